// One dialog for all changes: it shows the preview, asks for confirmation, makes the change, and offers to undo it.
import { useEffect, useRef, useState } from 'preact/hooks';
import { newRequestID, post } from '../lib/api.js';
import { html } from '../lib/html.js';
import { navigate } from '../lib/router.js';
import { byline } from '../lib/session.js';
import { store, tabStore, useStore } from '../lib/store.js';
import { useData } from '../lib/use.js';
import { Action, Dialog, Text } from './controls.js';
import { Effects } from './effects.js';
import { Failure, Loaded, notify } from './feedback.js';
import { DrainField, drain, problem } from './options.js';

// changeID returns the change id in a response, which is needed to undo the change.
export const changeID = (result) => result.change ?? result.revision ?? result.cordon?.revision;

// Review shows preview(signal), the effects of a change, and makes the change with run({reason, author, request_id,
// ...}, preview).
//  done(result)        returns text about what was done; if the result has a change id, the user can undo it
//  role, semaphore     required by the change
//  verb                the button's label
//  nothing(preview)    returns the reason if there is nothing to do
//  deps                what the preview depends on, if the children can change it
//  extra(preview)      returns additional contents
//  show(preview)       returns contents that replace the effects on semaphores
//  onError(error)      returns true to close the dialog, or 'shown' if the children show the error
//  undoable            false for changes that cannot be undone
//  journal             false for changes that are not recorded in the journal, and so have no reason
export function Review(props) {
  const { title, verb, kind, preview, run, done, onClose, onDone, onError, role, semaphore, nothing, deps,
    extra, children } = props;
  const { show = (data) => html`<${Effects} preview=${data} />`, undoable = true, journal = true } = props;
  const [round, setRound] = useState(0);
  const loaded = useData(preview, [title, round, deps], { keep: true });
  const pending = loaded.loading || loaded.error;
  const [reason, setReason] = useState('');
  const [running, setRunning] = useState(false);
  const [error, setError] = useState(null);
  const requestID = useRef(null); // the same for all attempts, so that retries are no-ops
  const why = loaded.data && nothing?.(loaded.data);
  useEffect(() => {
    if (loaded.error && onError?.(loaded.error) === true) onClose();
  }, [loaded.error]);
  useEffect(() => {
    requestID.current = null; // a different change
  }, [JSON.stringify(deps)]);
  const retry = () => {
    requestID.current = null;
    setError(null);
    setRound(round + 1);
  };

  async function submit(event) {
    event.preventDefault();
    if (running || pending || why) return;
    setRunning(true);
    setError(null);
    requestID.current ??= newRequestID();
    try {
      const result = await run({ reason, ...byline(), ...requestID.current }, loaded.data);
      const change = changeID(result);
      const undo = undoable && change && change !== '0' ? { text: 'Undo', run: () => openUndo(change, { what: done(result).replace(/\.$/, '') }) } : undefined;
      notify(done(result), { action: undo });
      onDone?.(result, loaded.data);
      onClose();
    } catch (e) {
      if (e.code !== 'UNAVAILABLE') requestID.current = null;
      setRunning(false);
      const handled = onError?.(e);
      if (handled === true) onClose();
      else if (handled !== 'shown') setError(e);
    }
  }

  return html`<${Dialog} title=${title} onClose=${onClose} wide persistent=${Boolean(children)}>
    <form onSubmit=${submit}>
      ${children}
      <${Loaded} source=${loaded} what="Previewing the change">
        ${(data) => html`${extra?.(data)}${show(data)}${data.notes?.length > 0 && html`<ul>${data.notes.map((n) => html`<li>${n}</li>`)}</ul>`}
        ${why && html`<p class="lead">${why}</p>`}`}
      <//>
      ${journal &&
      html`<${Text} label="Reason" help="Why you are doing this. Shown in Activity." value=${reason}
        onInput=${setReason} maxlength="1024" />`}
      ${error && html`<${Failure} error=${error}
        retry=${/CHANGED_SINCE|STALE|CONFLICT/.test(error.reason) ? retry : undefined} />`}
      <p class="row end sticky-end">
        <button type="button" onClick=${onClose}>Cancel</button>
        <${Action} role=${role} semaphore=${semaphore} type="submit" kind=${kind ?? 'primary'}
          why=${pending ? 'The preview is not ready yet.' : why}>
          ${running ? 'Working …' : typeof verb === 'function' ? verb(loaded.data ?? {}) : verb}
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

// The last change made here: {text, change, where, at, stopped}. Its holders are tracked until the user closes it, even
// after visiting another view.
export const lastChange = tabStore('ran');

// recordChange stores a change in lastChange.
export function recordChange(text, result, preview, where) {
  const change = changeID(result);
  if (!change || change === '0') return;
  const effects = result.effects?.length ? result.effects : preview?.effects ?? [];
  lastChange.set({ text, change, where, at: Date.now(), stopped: effects.flatMap((e) => e.stopped ?? []) });
}

export function UndoDialog() {
  const u = useStore(undoing);
  return u && html`<${Undo} key=${u.change} u=${u} />`;
}

function Undo({ u }) {
  const [o, set] = useState({ drain: '' });
  const drainError = problem(() => drain(o.drain));
  const request = () => ({ change: u.change, ...(drainError ? {} : drain(o.drain)) });
  return html`<${Review}
    title=${u.what ? `Undo change ${u.change}: ${u.what}` : `Undo change ${u.change}`}
    verb=${`Undo change ${u.change}`}
    deps=${o}
    preview=${(signal) => post('/v1/undo', { ...request(), dry_run: true, ...byline() }, signal)}
    extra=${(p) => (p.effects ?? []).some((e) => e.stopped?.length) && html`<${DrainField} value=${o} set=${set} />`}
    nothing=${(p) => {
      if (drainError) return 'Correct the drain first.';
      if (p.undone_by && p.undone_by !== '0') return `Already undone by change ${p.undone_by}.`;
      return p.nothing ? 'There is nothing left to undo.' : '';
    }}
    run=${(common, p) => post('/v1/undo', { ...request(), plan: p.plan, ...common })}
    done=${() => `Change ${u.change} undone.`}
    onDone=${(result, p) => {
      // Otherwise, undoing a small edit would replace the display of a move whose holders are still stopping.
      const stops = (p.effects ?? []).some((e) => e.stopped?.length);
      if (u.where || stops) recordChange(`Undid change ${u.change}${u.what && `: ${u.what}`}`, result, p, u.where);
      if (stops && location.pathname !== '/move')
        notify('Holders must stop.', { action: { text: 'Follow', run: () => navigate('/move') } });
      u.onDone?.();
    }}
    onClose=${() => undoing.set(null)}
  />`;
}
