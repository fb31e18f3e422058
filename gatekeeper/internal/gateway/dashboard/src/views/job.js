// One job: its live progress, its tasks, and actions for failed ones.
import { useEffect, useState } from 'preact/hooks';
import { get, path, post, call } from '../lib/api.js';
import { brief, bytes, count, dateTime, decodePayload, durationInput, plural } from '../lib/format.js';
import { html } from '../lib/html.js';
import { navigate, useQuery, useTitle } from '../lib/router.js';
import { byline } from '../lib/session.js';
import { useData, useStream, useThrottled } from '../lib/use.js';
import { enumText, who } from '../lib/words.js';
import { Action, Dialog, Select, Text } from '../ui/controls.js';
import { Empty, Failure, Loaded, Loading, notify } from '../ui/feedback.js';
import { Title } from '../ui/shell.js';
import { Bar, Facts, Table } from '../ui/table.js';
import { JobProgress, jobState, jobTone, taskCounts } from './jobs.js';

// Confirm asks for confirmation before a change that cannot be undone.
function Confirm({ title, text, verb, run, done, onClose, onDone, reason }) {
  const [why, setWhy] = useState('');
  const [error, setError] = useState(null);
  const [busy, setBusy] = useState(false);
  const submit = async (event) => {
    event.preventDefault();
    if (busy) return;
    setBusy(true);
    try {
      notify(done(await run(why)));
      onDone();
      onClose();
    } catch (e) {
      setError(e);
      setBusy(false);
    }
  };
  return html`<${Dialog} title=${title} onClose=${onClose}>
    <form onSubmit=${submit}>
      <p>${text}</p>
      ${reason && html`<${Text} label="Reason" value=${why} onInput=${setWhy} maxlength="1024" />`}
      <${Failure} error=${error} />
      <p class="row end"><button type="button" onClick=${onClose}>Cancel</button>
      <button class="primary">${busy ? 'Working …' : verb}</button></p>
    </form>
  <//>`;
}

function Actions({ job, onChange }) {
  const [dialog, setDialog] = useState('');
  const { id, semaphore } = job.spec;
  const state = enumText(job.state, 'JOB_STATE_');
  const common = { onClose: () => setDialog(''), onDone: onChange };
  const button = (name, text, why) =>
    html`<${Action} role="ROLE_OPERATOR" semaphore=${semaphore} why=${why}
      onClick=${() => setDialog(name)}>${text}<//>`;
  return html`
    ${button('retry', 'Retry failed …', job.failed ? '' : 'No tasks have failed.')}
    ${button('drop', 'Drop failed …', job.failed ? '' : 'No tasks have failed.')}
    ${button('cancel', 'Cancel …',
      job.over ? 'The job has ended.' : state === 'cancelled' ? 'It is already cancelled.' : '')}
    ${button('delete', 'Delete …', job.over ? '' : 'The job has not ended. Cancel it first.')}
    ${dialog === 'retry' && html`<${Confirm} ...${common} title="Retry failed tasks" verb="Retry"
      text=${`${plural(job.failed, 'failed task', 'failed tasks')} will be retried.`}
      run=${() => post(path`/v1/jobs/${id}:retry`, { as_of: job.revision })}
        done=${(a) => `${plural(a.tasks ?? 0, 'task', 'tasks')} will be retried.`} />`}
    ${dialog === 'drop' && html`<${Confirm} ...${common} title="Drop failed tasks" verb="Drop"
      text=${`${plural(job.failed, 'failed task', 'failed tasks')} will be dropped. Dropped tasks cannot be retried.`}
      run=${() => post(path`/v1/jobs/${id}:drop`, { as_of: job.revision })}
        done=${(a) => `${plural(a.tasks ?? 0, 'task', 'tasks')} dropped.`} />`}
    ${dialog === 'cancel' && html`<${Confirm} ...${common} title=${`Cancel ${id}`} verb="Cancel the job" reason
      text=${`${plural(job.waiting ?? 0, 'waiting task', 'waiting tasks')} will not be executed, and ${plural(job.held ?? 0, 'running task', 'running tasks')} will be stopped.`}
      run=${(reason) => post(path`/v1/jobs/${id}:cancel`,
        { reason, submitted_revision: job.submitted_revision, ...byline() })} done=${() => `${id} cancelled.`} />`}
    ${dialog === 'delete' && html`<${Confirm} ...${common} title=${`Delete ${id}`} verb="Delete the job"
      text="The job and its results will be deleted."
      run=${() => call('DELETE', path`/v1/jobs/${id}`, { query: { submitted_revision: job.submitted_revision } })}
        done=${() => `${id} deleted.`} onDone=${() => navigate('/jobs')} />`}`;
}

const taskTones = { waiting: 'idle', held: 'accent', done: 'run', failed: 'deny', dropped: 'stop', cancelled: 'stop' };
const stateOptions = [['', 'any'], ...Object.keys(taskTones).map((s) => [s, s])];

function TaskDialog({ job, index, onClose }) {
  const task = useData((signal) =>
    get(path`/v1/jobs/${job}/tasks`, { from: index, page_size: 1, payloads: true, results: true }, signal),
    ['task', job, index]);
  return html`<${Dialog} title=${`Task ${index} of ${job}`} onClose=${onClose} wide>
    <${Loaded} source=${task} what="Loading the task">
      ${(data) => {
        const t = data.tasks?.[0];
        if (!t) return html`<${Empty} title="There is no such task." />`;
        return html`<${Facts} facts=${[['State', enumText(t.state, 'TASK_STATE_')], ['Attempts', count(t.attempts)], ['Worker', t.worker && who(t.worker)], ['Token', t.token], ['Returned unfinished', t.returns]]} />
          ${t.failure && html`<h3>Failure</h3><pre>${t.failure}</pre>`}
          <h3>Payload</h3><pre>${decodePayload(t.payload) || '(none)'}</pre>
          <h3>Result</h3><pre>${decodePayload(t.result) || '(none)'}</pre>`;
      }}
    <//>
  <//>`;
}

function Tasks({ id, round }) {
  const [params, change] = useQuery();
  const state = params.get('task') ?? '';
  const [from, setFrom] = useState(0);
  const [open, setOpen] = useState(null);
  const query = { states: state ? [`TASK_STATE_${state.toUpperCase()}`] : [], from, page_size: 100 };
  const tasks = useData((signal) => get(path`/v1/jobs/${id}/tasks`, query, signal),
    ['tasks', id, query, round], { keep: true });
  return html`<section class="panel">
    <div class="title"><h2>Tasks</h2>
      <${Select} label="In state" value=${state} onChange=${(task) => (setFrom(0), change({ task }))}
        options=${stateOptions} /></div>
    <${Loaded} source=${tasks} what="Loading the tasks">
      ${(data) => html`<${Table}
          caption="Tasks"
          rows=${data.tasks}
          rowKey=${(t) => t.index ?? 0}
          empty=${html`<${Empty} title="There are no tasks in that state." />`}
          columns=${[
            ['Task', (t) => html`<button type="button" class="plain"
              onClick=${() => setOpen(t.index ?? 0)}>${count(t.index)}
                <span class="sr-only">: show payload and result</span></button>`, 'num'],
            ['State', (t) => html`<span class="tag tone-${taskTones[enumText(t.state, 'TASK_STATE_')]}">${enumText(t.state, 'TASK_STATE_')}</span>`],
            ['Attempts', (t) => count(t.attempts), 'num'],
            ['Worker', (t) => (t.worker ? who(t.worker) : '–'), 'name'],
            ['Progress', (t) => (t.progress ? html`<${Bar} share=${t.progress.fraction} label=${`${Math.round(100 * (t.progress.fraction ?? 0))} %`} /> ${t.progress.text}` : '–')],
            ['Failure', (t) => t.failure || '–'],
          ]}
        />
        <p class="row end">
          ${from > 0 && html`<button type="button" onClick=${() => setFrom(0)}>First page</button>`}
          ${data.next > 0 && html`<button type="button" onClick=${() => setFrom(data.next)}>Next page</button>`}
        </p>`}
    <//>
    ${open !== null && html`<${TaskDialog} job=${id} index=${open} onClose=${() => setOpen(null)} />`}
  </section>`;
}

export function Job({ name: id }) {
  useTitle(id);
  const job = useData((signal) => get(path`/v1/jobs/${id}`, {}, signal), ['job', id], { every: 15_000 });
  const [round, setRound] = useState(0);
  const tasksSoon = useThrottled(() => setRound((n) => n + 1), 1000);
  const [start, setStart] = useState(null); // the revision from which to follow the job
  const again = () => {
    job.refresh();
    tasksSoon();
    setStart(null); // follow the job again after a retry
  };
  const j = job.data?.job;
  useEffect(() => {
    if (j && !j.over && start === null) setStart(j.revision);
  }, [j?.over, start]);
  useStream(start !== null ? path`/v1/jobs/${id}:follow` : null, { after_revision: start }, {
    message(data) {
      if (data.job) job.set(() => ({ job: data.job }));
      tasksSoon();
    },
    end: again,
  });
  if (job.error?.code === 'NOT_FOUND')
    return html`<${Title}>${id}<//>
      <${Empty} title="There is no job with this id.">It may have been deleted, or its retention may have
      expired. <a href="/jobs">All jobs</a><//>`;
  if (!j) return html`<${Title}>${id}<//>${job.error &&
    !job.error.offline ? html`<${Failure} error=${job.error}
      retry=${job.refresh} />` : html`<${Loading} what="Loading the job" />`}`;
  return html`<${Title} aside=${html`<${Actions} job=${j} onChange=${again} />`}>${id}<//>
    <div class="stack">
      <section class="panel stack">
        <p class="row"><span class="tag tone-${jobTone(j)}">${jobState(j)}</span><span>${taskCounts(j)}</span></p>
        <${JobProgress} job=${j} />
        ${j.cancel_text && html`<p class="note">Cancelled ${j.cancel_text}</p>`}
        <${Facts} facts=${[
          ['Semaphore', html`<a href=${`/s/${encodeURIComponent(j.spec.semaphore)}`}>${j.spec.semaphore}</a>`],
          ['Submitted', `${dateTime(j.submitted_at)}${j.spec.author ? ` by ${j.spec.author}` : ''}`],
          ['Ended', j.ended_at && `${dateTime(j.ended_at)}, after ${brief(Date.parse(j.ended_at) - Date.parse(j.submitted_at))}`],
          ['Priority', j.spec.priority],
          ['Attempts per task', j.spec.max_attempts],
          ['Timeout', durationInput(j.spec.timeout)],
          ['Kept after it ends', durationInput(j.spec.retention)],
          ['Stored', bytes(j.bytes)],
          ['Labels', Object.entries(j.spec.labels ?? {}).map(([k, v]) => `${k}=${v}`).join(', ')],
        ]} />
      </section>
      <${Tasks} id=${id} round=${round} />
    </div>`;
}
