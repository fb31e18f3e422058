// Journal entries: who changed what, when and why.
import { dateTime, shortTime } from '../lib/format.js';
import { html } from '../lib/html.js';
import { eventTone, historyText, kindText, undoable } from '../lib/words.js';
import { Action } from './controls.js';
import { Changes } from './effects.js';
import { openUndo } from './review.js';

const edits = ['EVENT_KIND_CREATED', 'EVENT_KIND_REPLACED', 'EVENT_KIND_DELETED'];
const undoRole = (kind) => (edits.includes(kind) ? 'ROLE_EDITOR' : 'ROLE_OPERATOR');

// Entries shows journal entries, newest first. A change's entries are grouped, with one button to undo them all.
export function Entries({ entries, semaphore, onChange }) {
  let last = '';
  return html`<ol class="entries">
    ${entries.map((e) => {
      const first = e.revision !== last;
      const size = first ? entries.filter((x) => x.revision === e.revision).length : 0;
      const description = size > 1 ? `${kindText(e.kind)} ${size} semaphores` : [kindText(e.kind), e.semaphore].filter(Boolean).join(' ');
      last = e.revision;
      return html`<li key=${`${e.revision}.${e.ordinal ?? 0}`} class=${first ? '' : 'same'}>
        <div class="entry-head">
          <time class="num" datetime=${e.at} title=${dateTime(e.at)}>${shortTime(e.at)}</time>
          <span class="tag tone-${eventTone(e.kind)}">${kindText(e.kind)}</span>
          ${!semaphore && e.semaphore &&
            html`<a class="mono" href=${`/s/${encodeURIComponent(e.semaphore)}`}>${e.semaphore}</a>`}
          <span class="grow">${historyText(e)}</span>
          <span class="faint"><a href=${`/activity?change=${e.revision}`}>change ${e.revision}</a>${e.author &&
            ` by ${e.author}`}</span>
          ${first && undoable(e) &&
            html`<${Action} role=${undoRole(e.kind)} semaphore=${e.semaphore ?? ''}
              onClick=${() => openUndo(e.revision, { what: description, onDone: onChange })}>Undo …<//>`}
        </div>
        ${e.reason && html`<p class="entry-reason">${e.reason}</p>`}
        ${e.before && e.after && html`<${Changes} before=${e.before} after=${e.after} />`}
      </li>`;
    })}
  </ol>`;
}
