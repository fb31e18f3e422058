// Jobs and their tasks: progress, failures and workers.
import { useState } from 'preact/hooks';
import { get } from '../lib/api.js';
import { brief, bytes, count, dateTime, ms, plural } from '../lib/format.js';
import { html } from '../lib/html.js';
import { useDraft, useQuery, useTitle } from '../lib/router.js';
import { useData } from '../lib/use.js';
import { enumText, who } from '../lib/words.js';
import { Select, Tabs } from '../ui/controls.js';
import { Empty, Loaded } from '../ui/feedback.js';
import { Title } from '../ui/shell.js';
import { Bar, Segments, Since, Table } from '../ui/table.js';

export const jobTone = (job) =>
  (job.failed ? 'deny' : job.over ? 'run' : enumText(job.state, 'JOB_STATE_') === 'cancelled' ? 'stop' : 'accent');

export const jobState = (job) => {
  const state = enumText(job.state, 'JOB_STATE_');
  return state === 'cancelled' && !job.over ? 'cancelled, some tasks still running' : state;
};

// taskCounts formats the number of a job's tasks in each state.
export const taskCounts = (job) =>
  ['waiting', 'held', 'done', 'failed', 'dropped', 'cancelled']
    .filter((s) => job[s])
    .map((s) => `${count(job[s])} ${s}`)
    .join(', ');

export function JobProgress({ job }) {
  const total = job.tasks ?? 0;
  const text = `${count(job.done)} of ${plural(total, 'task', 'tasks')} done`;
  return html`<div class="job-progress">
    <${Segments}
      total=${total}
      label="${text}; ${taskCounts(job)}"
      parts=${[[job.done ?? 0, 'run'], [job.held ?? 0, 'accent'], [job.failed ?? 0, 'deny'], [job.dropped ?? 0, 'stop'],
        [job.cancelled ?? 0, 'idle']]}
    />
    <span class="num">${text}</span>
  </div>`;
}

export function JobTable({ jobs }) {
  return html`<${Table}
    caption="Jobs"
    rows=${jobs}
    rowKey=${(j) => j.submitted_revision}
    columns=${[
      ['Job', (j) => html`<a href=${`/jobs/${encodeURIComponent(j.spec.id)}`}>${j.spec.id}</a>`, 'name'],
      ['Semaphore', (j) => html`<a href=${`/s/${encodeURIComponent(j.spec.semaphore)}`}>${j.spec.semaphore}</a>`,
        'name'],
      ['State', (j) => html`<span class="tag tone-${jobTone(j)}">${jobState(j)}</span>`],
      ['Progress', (j) => html`<${JobProgress} job=${j} />`],
      ['Failed', (j) => (j.failed ? html`<strong class="tone-deny">${count(j.failed)}</strong>` : '0'), 'num'],
      ['Submitted', (j) => html`<span title=${dateTime(j.submitted_at)}>
        <${Since} at=${j.submitted_at} /> ago</span>${j.spec.author &&
          html`<div class="sub">by ${j.spec.author}</div>`}`, 'num'],
      ['Stored', (j) => bytes(j.bytes), 'num'],
    ]}
  />`;
}

function workerState(w) {
  if (w.away) return ['away', 'stop'];
  if (w.draining) return ['draining', 'wait'];
  if (w.denied && w.denied !== 'REASON_UNSPECIFIED') return [`denied: ${enumText(w.denied, 'REASON_')}`, 'deny'];
  if (w.waiting) return ['waiting', 'wait'];
  return w.tasks?.length ? ['working', 'run'] : ['idle', 'idle'];
}

const heldState = (t) =>
  t.state === 'PERMIT_STATE_HELD' ? 'lost: its slot must be cleared' : t.state === 'PERMIT_STATE_COOLING' ? `lost: cooling for ${brief(ms(t.expires_in))}` : '';

export function WorkerTable({ data }) {
  const workers = [...(data.workers ?? []), ...(data.away ?? [])];
  return html`<${Table}
    caption="Workers"
    rows=${workers}
    rowKey=${(w, i) => `${w.semaphore} ${who(w.identity)} ${w.identity?.holder_id} ${i}`}
    empty=${html`<${Empty} title="There are no workers.">A worker is a program that executes tasks, such as gkctl work.<//>`}
    columns=${[
      ['Worker', (w) => who(w.identity), 'name'],
      ['Semaphore', (w) => html`<a href=${`/s/${encodeURIComponent(w.semaphore)}`}>${w.semaphore}</a>`, 'name'],
      ['State', (w) => html`<span class="tag tone-${workerState(w)[1]}">${workerState(w)[0]}</span>`],
      ['Free', (w) => count(w.free), 'num'],
      ['Tasks', (w) =>
        w.tasks?.length
          ? html`<ul class="held">${w.tasks.slice(0, 8).map(
              (t) => html`<li key=${t.token}>
                <a href=${`/jobs/${encodeURIComponent(t.job)}`}>${t.job}</a> ${count(t.index)},
                for <${Since} at=${t.granted_at} />
                ${t.progress && html` <${Bar} share=${t.progress.fraction}
                  label="${Math.round(100 * (t.progress.fraction ?? 0))} %" /> ${t.progress.text}`} ${heldState(t)}</li>`,
            )}${w.tasks.length > 8 && html`<li>and ${count(w.tasks.length - 8)} more</li>`}</ul>`
          : '–'],
    ]}
  />`;
}

const stateOptions = [['', 'any'], ['JOB_STATE_OPEN', 'open'], ['JOB_STATE_ENDED', 'ended'],
  ['JOB_STATE_CANCELLED', 'cancelled'], ['JOB_STATE_RECEIVING', 'receiving']];

function JobList() {
  const [params, change] = useQuery();
  const [semaphore, setSemaphore] = useDraft(params.get('semaphore') ?? '', (semaphore) => change({ semaphore }), 300);
  const [labels, setLabels] = useDraft(params.get('labels') ?? '', (labels) => change({ labels }), 300);
  const query = { semaphore: params.get('semaphore') ?? '', labels: params.get('labels') ?? '',
    states: params.getAll('state') };
  const [token, setToken] = useState('');
  const jobs = useData((signal) => get('/v1/jobs', { ...query, page_size: 100, page_token: token }, signal),
    ['jobs', query, token], { every: 2_000, keep: true });
  return html`<form class="filters" role="search" onSubmit=${(e) => e.preventDefault()}>
      <div class="field"><label for="job-semaphore">Semaphore</label>
      <input id="job-semaphore" data-search value=${semaphore} onInput=${(e) => setSemaphore(e.target.value)}
        spellcheck=${false} /></div>
      <div class="field"><label for="job-labels">Labels</label>
      <input id="job-labels" value=${labels} onInput=${(e) => setLabels(e.target.value)} placeholder="team=billing"
        spellcheck=${false} /></div>
      <${Select} label="State" value=${params.get('state') ?? ''} onChange=${(state) => change({ state })}
        options=${stateOptions} />
    </form>
    <section class="panel">
      <${Loaded} source=${jobs} what="Loading the jobs">
        ${(data) => html`
          ${data.jobs?.length ? html`<${JobTable} jobs=${data.jobs} />` : html`<${Empty} title="No jobs match.">Submit jobs
            from a program, or with gkctl job submit.<//>`}
          <p class="row end">
            ${token && html`<button type="button" onClick=${() => setToken('')}>First page</button>`}
            ${data.next_page_token &&
              html`<button type="button" onClick=${() => setToken(data.next_page_token)}>Next page</button>`}
          </p>`}
      <//>
    </section>`;
}

function Workers() {
  const workers = useData((signal) => get('/v1/workers', {}, signal), ['workers'], { every: 2_000, keep: true });
  return html`<section class="panel">
    <${Loaded} source=${workers} what="Loading the workers">${(data) => html`<${WorkerTable} data=${data} />`}<//></section>`;
}

export function Jobs() {
  useTitle('Jobs');
  const [params] = useQuery();
  return html`<${Title}>Jobs<//>
    <p class="faint">A job is a list of tasks that a program submits and workers share. Its semaphore decides who may work on it.</p>
    <${Tabs} tabs=${[['jobs', 'Jobs'], ['workers', 'Workers']]} label="Jobs and workers" />
    ${params.get('tab') === 'workers' ? html`<${Workers} />` : html`<${JobList} />`}`;
}
