// The current cordons. They shut a group or a host out of every semaphore, so every view of semaphores shows them.
import { useState } from 'preact/hooks';
import { get, post } from '../lib/api.js';
import { capitalize } from '../lib/format.js';
import { html } from '../lib/html.js';
import { store, useStore } from '../lib/store.js';
import { useData } from '../lib/use.js';
import { cordonEnd, cordonTarget } from '../lib/words.js';
import { Action } from '../ui/controls.js';
import { Glyph } from '../ui/glyph.js';
import { Review } from '../ui/review.js';

// Incremented when a change to the cordons becomes known, to reload the list.
const changed = store(0);
export const cordonsChanged = () => changed.set(changed.get() + 1);

export function Cordons() {
  const round = useStore(changed);
  const cordons = useData((signal) => get('/v1/cordons', {}, signal), ['cordons', round], { every: 10_000, keep: true });
  const [removing, setRemoving] = useState(null);
  const list = cordons.data?.cordons ?? [];
  const dialog = removing && html`<${Review}
    title=${`Remove the cordon on ${cordonTarget(removing)}`}
    verb="Remove"
    role="ROLE_OPERATOR"
    preview=${async () => ({})}
    show=${() => html`<p class="lead">${capitalize(cordonTarget(removing))} will get permits again wherever a rule admits it.</p>`}
    run=${(common) => post('/v1/uncordon', { id: removing.id, ...common })}
    done=${() => `${capitalize(cordonTarget(removing))} is no longer cordoned.`}
    onDone=${cordonsChanged}
    onClose=${() => setRemoving(null)}
  />`;
  if (list.length === 0) return dialog;
  return html`<section class="cordons" aria-label="Cordons in force">
    <ul>
      ${list.map(
        (c) => html`<li key=${c.id}>
          <span class="state tone-deny"><${Glyph} word="cordoned" />cordoned</span>
          <span class="grow">${capitalize(cordonTarget(c))} is cordoned ${cordonEnd(c)}${c.reason && `: ${c.reason}`}${c.author &&
            html`<span class="faint"> (by ${c.author})</span>`}</span>
          <${Action} role="ROLE_OPERATOR" onClick=${() => setRemoving(c)}>Remove …<//>
        </li>`,
      )}
    </ul>
    ${dialog}
  </section>`;
}
