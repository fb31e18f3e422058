// The firings that a semaphore remembers: which scheduled runs were claimed, and by whom.
import { useState } from 'preact/hooks';
import { get, post } from '../../lib/api.js';
import { count, dateTime } from '../../lib/format.js';
import { html } from '../../lib/html.js';
import { byline } from '../../lib/session.js';
import { useData } from '../../lib/use.js';
import { enumText, firingName, who } from '../../lib/words.js';
import { Action } from '../../ui/controls.js';
import { Empty, Loaded } from '../../ui/feedback.js';
import { Review } from '../../ui/review.js';
import { Table } from '../../ui/table.js';

const tones = { claimed: 'accent', done: 'run', spent: 'stop', failed: 'deny', 'cut short': 'stop',
  open: 'wait', forgotten: 'idle' };

// The API lists firings in ascending order of due time. The newest come first here, so all pages are read. There are
// only a few.
async function newestFirst(name, signal) {
  let token = '';
  let page;
  const firings = [];
  do {
    page = await get('/v1/firings', { semaphore: name, page_size: 1000, page_token: token }, signal);
    firings.push(...(page.firings ?? []));
    token = page.next_page_token ?? '';
  } while (token && firings.length < 20_000);
  return { ...page, firings: firings.reverse() };
}

export function Firings({ name, events }) {
  const firings = useData((signal) => newestFirst(name, signal), ['firings', name, events], { keep: true });
  const [forget, setForget] = useState(null);
  const [shown, setShown] = useState(100);
  const request = forget && { semaphore: name, firings: [forget.firing], ...byline() };
  return html`<section class="panel">
    <h2>Firings</h2>
    <${Loaded} source=${firings} what="Loading the firings">
      ${(data) => html`
        <p class="faint">${count(data.count)} remembered; the limit
        is ${count(data.limit)}.${data.forgotten_up_to &&
          ` Unlisted firings due by ${dateTime(data.forgotten_up_to)} count as forgotten.`}</p>
        <${Table}
          caption="Firings"
          rows=${data.firings.slice(0, shown)}
          rowKey=${(f) => firingName(f.firing)}
          empty=${html`<${Empty} title="No firings are remembered.">Firings appear here when a caller specifies one, for example with
            gkctl run --firing.<//>`}
          columns=${[
            ['Firing', (f) => firingName(f.firing), 'name'],
            ['State', (f) => html`<span class="tag tone-${tones[enumText(f.state, 'FIRING_STATE_')] ?? 'idle'}">${enumText(f.state, 'FIRING_STATE_')}</span>`],
            ['Claimed by', (f) => (f.winner ? who(f.winner) : '–'), 'name'],
            ['Claimed at', (f) => dateTime(f.claimed_at) || '–', 'num'],
            ['Attempts', (f) => count(f.attempts), 'num'],
            ['Failure', (f) => f.failure || '–'],
            ['', (f) => html`<${Action} role="ROLE_OPERATOR" semaphore=${name}
              onClick=${() => setForget(f)}>Forget …<//>`, 'end'],
          ]}
        />
        ${data.firings.length > shown &&
          html`<button type="button" onClick=${() => setShown(shown * 5)}>Show more</button>`}`}
    <//>
    ${forget &&
    html`<${Review}
      title=${`Forget ${firingName(forget.firing)}`}
      verb="Forget"
      kind="danger"
      role="ROLE_OPERATOR"
      semaphore=${name}
      preview=${(signal) => post('/v1/firings:forget', { ...request, dry_run: true }, signal)}
      run=${(common, p) => post('/v1/firings:forget', { ...request, plan: p.plan, ...common })}
      done=${() => `${firingName(forget.firing)} forgotten.`}
      onDone=${firings.refresh}
      onClose=${() => setForget(null)}
    ><p>A forgotten firing can run again, even if its job has already run.</p><//>`}
  </section>`;
}
