// The effects of a change, as previewed by the servers.
import { brief, count, ms, plural, sentence } from '../lib/format.js';
import { html } from '../lib/html.js';
import { callers, changes, stopText, warningsOf, who } from '../lib/words.js';
import { Since, Table } from './table.js';

const most = 50;

// Changes lists the fields that differ, with their values before and after.
export function Changes({ before, after }) {
  if (!before && !after) return null;
  if (!before) return html`<span>created</span>`;
  if (!after) return html`<span>deleted</span>`;
  const list = changes(before, after);
  if (list.length === 0) return html`<span class="faint">–</span>`;
  return html`<ul class="changes">
    ${list.map(
      (c) => html`<li>
        <span class="change-name">${c.field.label}</span>
        <del>${c.before || '(none)'}</del><span class="sr-only"> becomes </span><ins>${c.after || '(none)'}</ins>
      </li>`,
    )}
  </ul>`;
}

export function Stopped({ effects }) {
  const rows = effects.flatMap((e) => e.stopped ?? []);
  if (rows.length === 0) return null;
  return html`<section>
    <h3>Must stop</h3>
    <${Table}
      caption="Holders that must stop"
      rows=${rows.slice(0, most)}
      rowKey=${(s) => s.permit.token}
      columns=${[
        ['Semaphore', (s) => s.permit.semaphore, 'name'],
        ['Holder', (s) => who(s.permit.identity), 'name'],
        ['Token', (s) => s.permit.token, 'num'],
        ['Since', (s) => html`<${Since} at=${s.permit.granted_at} />`, 'num'],
        ['Slot free within', (s) => brief(ms(s.free_within)) + (s.drain_left ? ` (its drain had ${brief(ms(s.drain_left))} left)` : ''), 'num'],
      ]}
      note=${`${rows.length > most ? `And ${count(rows.length - most)} more. ` : ''}A slot is free when its holder
        releases it, and at the latest when the holder's drain and then its permit have run out.`}
    />
  </section>`;
}

// Cautions lists the confirmations and warnings of a change: {confirm, warnings}.
export function Cautions({ of }) {
  const { warnings = [] } = of;
  const confirm = (of.confirm ?? []).filter((c) => c.kind !== 'CONFIRMATION_KIND_STOPS_HOLDERS'); // shown in the lead
  return html`${confirm.length > 0 && html`<ul class="confirm">${confirm.map((c) => html`<li>${sentence(c.text)}</li>`)}</ul>`}
    ${warnings.length > 0 && html`<ul class="warnings">${warnings.slice(0, 20).map((w) => html`<li>${w}</li>`)}</ul>`}`;
}

// Effects shows the preview of a change: {effects, warnings, confirm}.
export function Effects({ of }) {
  const effects = of.effects ?? [];
  const rules = effects.filter((e) => e.total_admitted || e.total_shut_out || !e.before !== !e.after ||
    changes(e.before, e.after).length);
  const held = effects.flatMap((e) => e.held ?? []);
  const tasks = effects.filter((e) => Number(e.waiting_tasks));
  return html`<div class="effects">
    <p class="lead">${stopText(effects)}</p>
    <${Cautions} of=${{ confirm: of.confirm, warnings: warningsOf(effects, of.warnings) }} />
    ${rules.length > 0 &&
    html`<section>
      <h3>${plural(rules.length, 'semaphore changes', 'semaphores change')}</h3>
      <${Table}
        caption="Semaphores that change"
        rows=${rules.slice(0, most)}
        rowKey=${(e) => e.semaphore}
        columns=${[
          ['Semaphore', (e) => e.semaphore, 'name'],
          ['Changes', (e) => html`<${Changes} before=${e.before} after=${e.after} />`],
          ['Newly admitted', (e) => callers(e.admitted, e.total_admitted ?? 0) || '–'],
          ['Shut out', (e) => callers(e.shut_out, e.total_shut_out ?? 0) || '–'],
          ['Will stop', (e) => count(e.stopped?.length), 'num'],
          ['Will continue', (e) => count(e.unaffected), 'num'],
        ]}
        note=${rules.length > most && `and ${count(rules.length - most)} more`}
      />
    </section>`}
    <${Stopped} effects=${effects} />
    ${held.length > 0 &&
    html`<section><h3>Held for an operator</h3>
      <ul>${held.slice(0, most).map((p) =>
        html`<li>${p.semaphore}: the permit of ${who(p.identity)} (token ${p.token}) expired. Its slot stays taken until
          it is cleared.</li>`)}</ul>
    </section>`}
    ${tasks.length > 0 &&
    html`<ul>${tasks.slice(0, most).map(
      (e) => html`<li>${e.semaphore}: ${plural(e.waiting_tasks, 'task is waiting', 'tasks are waiting')} for a
        worker${e.tasks_run ? `; after this change, ${e.tasks_run}` : ''}.</li>`,
    )}</ul>`}
  </div>`;
}
