// One dialog for all changes: it shows the preview, asks for confirmation, makes the change, and offers to undo it.
import { useEffect, useRef, useState } from 'preact/hooks';
import { drawn, post } from '../lib/api.js';
import { html } from '../lib/html.js';
import { navigate } from '../lib/router.js';
import { byline } from '../lib/session.js';
import { kept, store, useStore } from '../lib/store.js';
import { useData } from '../lib/use.js';
import { Action, Dialog, Text } from './controls.js';
import { Effects } from './effects.js';
import { Failure, Read, notify } from './feedback.js';
import { DrainField, drain, problem } from './options.js';

// changeOf returns the id of the change in a response, which can be used to undo it.
export const changeOf = (answer) => answer.change ?? answer.revision ?? answer.cordon?.revision;

// Review shows preview(signal), the effects of a change, and makes the change with run({reason, author, request_id,
// ...}, preview).
//  done(answer)        returns what was done; a change in the answer can be undone
//  role, semaphore     required by the change
//  verb                the label of the button
//  nothing(preview)    returns why there is nothing to do, if so
//  deps                what the preview depends on, if the children can change it
//  extra(preview)      returns further contents
//  show(preview)       returns contents that replace the effects on semaphores
//  onError(error)      returns true to close the dialog, or 'shown' if the children show the error
//  undoable            false for changes that cannot be undone
//  journal             false for changes that are not in the journal, which have no reason
export function Review(props) {
  const { title, verb, kind, preview, run, done, onClose, onDone, onError, role, semaphore, nothing, deps,
    extra, children } = props;
  const { show = (data) => html`<${Effects} of=${data} />`, undoable = true, journal = true } = props;
  const [round, setRound] = useState(0);
  const shown = useData(preview, [title, round, deps], { keep: true });
  const pending = shown.loading || shown.error;
  const [reason, setReason] = useState('');
  const [running, setRunning] = useState(false);
  const [error, setError] = useState(null);
  const draw = useRef(null); // the same for all attempts, so that a repeat has no further effect
  const why = shown.data && nothing?.(shown.data);
  useEffect(() => {
    if (shown.error && onError?.(shown.error) === true) onClose();
  }, [shown.error]);
  useEffect(() => {
    draw.current = null; // a different change
  }, [JSON.stringify(deps)]);
  const again = () => {
    draw.current = null;
    setError(null);
    setRound(round + 1);
  };

  async function act(event) {
    event.preventDefault();
    if (running || pending || why) return;
    setRunning(true);
    setError(null);
    draw.current ??= drawn();
    try {
      const answer = await run({ reason, ...byline(), ...draw.current }, shown.data);
      const change = changeOf(answer);
      const undo = undoable && change && change !== '0' ? { text: 'Undo', run: () => openUndo(change, { what: done(answer).replace(/\.$/, '') }) } : undefined;
      notify(done(answer), { action: undo });
      onDone?.(answer, shown.data);
      onClose();
    } catch (e) {
      if (e.code !== 'UNAVAILABLE') draw.current = null;
      setRunning(false);
      const dealt = onError?.(e);
      if (dealt === true) onClose();
      else if (dealt !== 'shown') setError(e);
    }
  }

  return html`<${Dialog} title=${title} onClose=${onClose} wide firm=${Boolean(children)}>
    <form onSubmit=${act}>
      ${children}
      <${Read} of=${shown} what="Previewing the change">
        ${(data) => html`${extra?.(data)}${show(data)}${data.notes?.length > 0 && html`<ul>${data.notes.map((n) => html`<li>${n}</li>`)}</ul>`}
        ${why && html`<p class="lead">${why}</p>`}`}
      <//>
      ${journal &&
      html`<${Text} label="Reason" help="Why you are doing this. Shown in Activity." value=${reason}
        onInput=${setReason} maxlength="1024" />`}
      ${error && html`<${Failure} error=${error}
        retry=${/CHANGED_SINCE|STALE|CONFLICT/.test(error.reason) ? again : undefined} />`}
      <p class="row end sticky-end">
        <button type="button" onClick=${onClose}>Cancel</button>
        <${Action} role=${role} semaphore=${semaphore} type="submit" kind=${kind ?? 'primary'}
          why=${pending ? 'The preview is not ready yet.' : why}>
          ${running ? 'Working …' : typeof verb === 'function' ? verb(shown.data ?? {}) : verb}
        <//>
      </p>
    </form>
  <//>`;
}

// The change to undo, if any.
const undoing = store(null);

// openUndo opens the dialog that undoes a change. what describes the change, if known.
export function openUndo(change, { what = '', where, onDone } = {}) {
  undoing.set({ change: String(change), what, where, onDone });
}

// The last change made here, {text, change, where, at, stopped}. Its holders are followed until the user closes it,
// even after a visit to another view.
export const ran = kept('ran');

// made stores a change in ran.
export function made(text, answer, preview, where) {
  const change = changeOf(answer);
  if (!change || change === '0') return;
  const effects = answer.effects?.length ? answer.effects : preview?.effects ?? [];
  ran.set({ text, change, where, at: Date.now(), stopped: effects.flatMap((e) => e.stopped ?? []) });
}

export function UndoDialog() {
  const u = useStore(undoing);
  return u && html`<${Undo} key=${u.change} u=${u} />`;
}

function Undo({ u }) {
  const [o, set] = useState({ drain: '' });
  const bad = problem(() => drain(o.drain));
  const request = () => ({ change: u.change, ...(bad ? {} : drain(o.drain)) });
  return html`<${Review}
    title=${u.what ? `Undo change ${u.change}: ${u.what}` : `Undo change ${u.change}`}
    verb=${`Undo change ${u.change}`}
    deps=${o}
    preview=${(signal) => post('/v1/undo', { ...request(), dry_run: true, ...byline() }, signal)}
    extra=${(p) => (p.effects ?? []).some((e) => e.stopped?.length) && html`<${DrainField} value=${o} set=${set} />`}
    nothing=${(p) => {
      if (bad) return 'Correct the drain first.';
      if (p.undone_by && p.undone_by !== '0') return `Already undone, by change ${p.undone_by}.`;
      return p.nothing ? 'There is nothing left to undo.' : '';
    }}
    run=${(common, p) => post('/v1/undo', { ...request(), plan: p.plan, ...common })}
    done=${() => `Change ${u.change} undone.`}
    onDone=${(answer, p) => {
      // Otherwise, undoing a small edit would replace the display of a move whose holders are still stopping.
      const stops = (p.effects ?? []).some((e) => e.stopped?.length);
      if (u.where || stops) made(`Undid change ${u.change}${u.what && `: ${u.what}`}`, answer, p, u.where);
      if (stops && location.pathname !== '/move')
        notify('Holders must stop.', { action: { text: 'Follow', run: () => navigate('/move') } });
      u.onDone?.();
    }}
    onClose=${() => undoing.set(null)}
  />`;
}
