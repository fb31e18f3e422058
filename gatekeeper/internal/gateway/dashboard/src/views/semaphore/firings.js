// The firings that a semaphore remembers: which instance of its work ran, and who ran it.
import { useState } from 'preact/hooks';
import { get, post } from '../../lib/api.js';
import { count, when } from '../../lib/format.js';
import { html } from '../../lib/html.js';
import { byline } from '../../lib/session.js';
import { useData } from '../../lib/use.js';
import { firing, who, word } from '../../lib/words.js';
import { Action } from '../../ui/controls.js';
import { Empty, Read } from '../../ui/feedback.js';
import { Review } from '../../ui/review.js';
import { Table } from '../../ui/table.js';

const tones = { claimed: 'accent', done: 'run', spent: 'stop', failed: 'deny', 'cut short': 'stop',
  open: 'wait', forgotten: 'idle' };

// The API lists firings by ascending due time. The newest are needed, so all pages are read; there are few.
async function newest(name, signal) {
  let token = '';
  let answer;
  const firings = [];
  do {
    answer = await get('/v1/firings', { semaphore: name, page_size: 1000, page_token: token }, signal);
    firings.push(...(answer.firings ?? []));
    token = answer.next_page_token ?? '';
  } while (token && firings.length < 20_000);
  return { ...answer, firings: firings.reverse() };
}

export function Firings({ name, events }) {
  const firings = useData((signal) => newest(name, signal), ['firings', name, events], { keep: true });
  const [forget, setForget] = useState(null);
  const [shown, setShown] = useState(100);
  const request = forget && { semaphore: name, firings: [forget.firing], ...byline() };
  return html`<section class="panel">
    <h2>Firings</h2>
    <${Read} of=${firings} what="Reading the firings">
      ${(data) => html`
        <p class="faint">${count(data.count)} remembered, at
        most ${count(data.limit)}.${data.forgotten_up_to &&
          ` Those due until ${when(data.forgotten_up_to)} that are not listed count as forgotten.`}</p>
        <${Table}
          caption="Firings"
          rows=${data.firings.slice(0, shown)}
          rowKey=${(f) => firing(f.firing)}
          empty=${html`<${Empty} title="No firing is remembered.">A caller that names its firing, as gkctl run --firing
            does, is remembered here.<//>`}
          columns=${[
            ['Firing', (f) => firing(f.firing), 'name'],
            ['State', (f) => html`<span class="tag tone-${tones[word(f.state, 'FIRING_STATE_')] ?? 'idle'}">${word(f.state, 'FIRING_STATE_')}</span>`],
            ['Who', (f) => (f.winner ? who(f.winner) : '–'), 'name'],
            ['Claimed at', (f) => when(f.claimed_at) || '–', 'num'],
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
      title=${`Forget ${firing(forget.firing)}`}
      verb="Forget it"
      kind="danger"
      role="ROLE_OPERATOR"
      semaphore=${name}
      preview=${(signal) => post('/v1/firings:forget', { ...request, dry_run: true }, signal)}
      run=${(common, p) => post('/v1/firings:forget', { ...request, plan: p.plan, ...common })}
      done=${() => `${firing(forget.firing)} is forgotten.`}
      onDone=${firings.refresh}
      onClose=${() => setForget(null)}
    ><p>A forgotten firing can run again, even if its job has run.</p><//>`}
  </section>`;
}
