// The cordons in force: they shut a group or a host out of every semaphore, so every view of semaphores shows them.
import { useState } from 'preact/hooks';
import { drawn, get, post } from '../lib/api.js';
import { html } from '../lib/html.js';
import { byline } from '../lib/session.js';
import { useData } from '../lib/use.js';
import { cordonText } from '../lib/words.js';
import { Action } from '../ui/controls.js';
import { Failure, notify } from '../ui/feedback.js';
import { Glyph } from '../ui/glyph.js';
import { openUndo } from '../ui/review.js';

export const useCordons = () =>
  useData((signal) => get('/v1/cordons', {}, signal), ['cordons'], { every: 15_000, keep: true });

export function Cordons() {
  const cordons = useCordons();
  const [error, setError] = useState(null);
  const list = cordons.data?.cordons ?? [];
  if (list.length === 0) return null;
  const end = (c) =>
    post('/v1/uncordon', { id: c.id, ...byline(), ...drawn() }).then((a) => {
      notify(`Cordon ${c.id} is ended.`,
        { action: { text: 'Undo', run: () => openUndo(a.revision, cordons.refresh) } });
      setError(null);
      cordons.refresh();
    }, setError);
  return html`<section class="cordons" aria-label="Cordons in force">
    <${Failure} error=${error} />
    <ul>
      ${list.map(
        (c) => html`<li key=${c.id}>
          <span class="state tone-deny"><${Glyph} word="cordoned" />cordoned</span>
          <span class="grow">${cordonText(c)}${c.reason && `: ${c.reason}`}${c.author &&
            html`<span class="faint"> by ${c.author}</span>`}</span>
          <${Action} role="ROLE_OPERATOR" onClick=${() => end(c)}>End it<//>
        </li>`,
      )}
    </ul>
  </section>`;
}
