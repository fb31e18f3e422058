// A semaphore's jobs and workers.
import { get } from '../../lib/api.js';
import { html } from '../../lib/html.js';
import { useData } from '../../lib/use.js';
import { Empty, Loaded } from '../../ui/feedback.js';
import { JobTable, WorkerTable } from '../jobs.js';

export function Tasks({ name, events }) {
  const jobs = useData((signal) => get('/v1/jobs', { semaphore: name, page_size: 200 }, signal), ['jobs', name, events],
    { every: 5_000, keep: true });
  const workers = useData((signal) => get('/v1/workers', { semaphore: name }, signal), ['workers', name, events],
    { every: 5_000, keep: true });
  return html`<div class="stack">
    <section class="panel"><h2>Jobs</h2>
      <${Loaded} source=${jobs} what="Loading the jobs">
        ${(data) => (data.jobs?.length ? html`<${JobTable} jobs=${data.jobs} />` : html`<${Empty} title="There are no jobs.">Submit one with gkctl job submit.<//>`)}
      <//>
    </section>
    <section class="panel"><h2>Workers</h2>
      <${Loaded} source=${workers} what="Loading the workers">${(data) => html`<${WorkerTable} data=${data} />`}<//>
    </section>
  </div>`;
}
