// The effects of a change, as previewed by the servers.
import { brief, count, ms, plural, sentence } from '../lib/format.js';
import { html } from '../lib/html.js';
import { allWarnings, callersText, changes, stopText, who } from '../lib/words.js';
import { Since, Table } from './table.js';

const limit = 50;

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
      rows=${rows.slice(0, limit)}
      rowKey=${(s) => s.permit.token}
      columns=${[
        ['Semaphore', (s) => s.permit.semaphore, 'name'],
        ['Holder', (s) => who(s.permit.identity), 'name'],
        ['Token', (s) => s.permit.token, 'num'],
        ['Since', (s) => html`<${Since} at=${s.permit.granted_at} />`, 'num'],
        ['Slot free within', (s) => brief(ms(s.free_within)) + (s.drain_left ? ` (its drain had ${brief(ms(s.drain_left))} left)` : ''), 'num'],
      ]}
      note=${`${rows.length > limit ? `And ${count(rows.length - limit)} more. ` : ''}A slot is freed when its holder
        releases it, or once the holder's drain and then its permit have expired.`}
    />
  </section>`;
}

// Cautions lists the confirmations and warnings for a change: {confirm, warnings}.
export function Cautions({ preview }) {
  const { warnings = [] } = preview;
  // The number of stopped holders is already in the first paragraph.
  const confirm = (preview.confirm ?? []).filter((c) => c.kind !== 'CONFIRMATION_KIND_STOPS_HOLDERS');
  return html`${confirm.length > 0 && html`<ul class="confirm">${confirm.map((c) => html`<li>${sentence(c.text)}</li>`)}</ul>`}
    ${warnings.length > 0 && html`<ul class="warnings">${warnings.slice(0, 20).map((w) => html`<li>${w}</li>`)}</ul>`}`;
}

// Effects shows the preview of a change: {effects, warnings, confirm}.
export function Effects({ preview }) {
  const effects = preview.effects ?? [];
  const changed = effects.filter((e) => e.total_admitted || e.total_shut_out || !e.before !== !e.after ||
    changes(e.before, e.after).length);
  const held = effects.flatMap((e) => e.held ?? []);
  const tasks = effects.filter((e) => Number(e.waiting_tasks));
  return html`<div class="effects">
    <p class="lead">${stopText(effects)}</p>
    <${Cautions} preview=${{ confirm: preview.confirm, warnings: allWarnings(effects, preview.warnings) }} />
    ${changed.length > 0 &&
    html`<section>
      <h3>${plural(changed.length, 'semaphore changes', 'semaphores change')}</h3>
      <${Table}
        caption="Semaphores that change"
        rows=${changed.slice(0, limit)}
        rowKey=${(e) => e.semaphore}
        columns=${[
          ['Semaphore', (e) => e.semaphore, 'name'],
          ['Changes', (e) => html`<${Changes} before=${e.before} after=${e.after} />`],
          ['Newly admitted', (e) => callersText(e.admitted, e.total_admitted ?? 0) || '–'],
          ['Shut out', (e) => callersText(e.shut_out, e.total_shut_out ?? 0) || '–'],
          ['Will stop', (e) => count(e.stopped?.length), 'num'],
          ['Will continue', (e) => count(e.unaffected), 'num'],
        ]}
        note=${changed.length > limit && `and ${count(changed.length - limit)} more`}
      />
    </section>`}
    <${Stopped} effects=${effects} />
    ${held.length > 0 &&
    html`<section><h3>Held for an operator</h3>
      <ul>${held.slice(0, limit).map((p) =>
        html`<li>${p.semaphore}: the permit of ${who(p.identity)} (token ${p.token}) expired. Its slot stays taken until
          it is cleared.</li>`)}</ul>
    </section>`}
    ${tasks.length > 0 &&
    html`<ul>${tasks.slice(0, limit).map(
      (e) => html`<li>${e.semaphore}: ${plural(e.waiting_tasks, 'task is waiting', 'tasks are waiting')} for a
        worker${e.tasks_run ? `; after this change, ${e.tasks_run}` : ''}.</li>`,
    )}</ul>`}
  </div>`;
}
