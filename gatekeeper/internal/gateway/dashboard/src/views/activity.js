// The journal, live: who changed what, when and why.
import { useState } from 'preact/hooks';
import { get } from '../lib/api.js';
import { html } from '../lib/html.js';
import { useDraft, useQuery, useTitle } from '../lib/router.js';
import { useData, useStream, useThrottled } from '../lib/use.js';
import { Check } from '../ui/controls.js';
import { Entries } from '../ui/entries.js';
import { Empty, Loaded } from '../ui/feedback.js';
import { Title } from '../ui/shell.js';

// Activity shows current activity, or one change with all its semaphores.
export function Activity() {
  useTitle('Activity');
  const [params, change] = useQuery();
  const id = params.get('change') ?? '';
  return html`<${Title} aside=${id && html`<a class="button" href="/activity">All activity</a>`}>${id ? `Change ${id}` : 'Activity'}<//>
    ${id ? html`<${OneChange} change=${id} />` : html`<${Live} params=${params} change=${change} />`}`;
}

const globs = (text) => text.split(/[\s,]+/).filter(Boolean).map((w) => (/[*?[]/.test(w) ? w : `*${w}*`));

function Live({ params, change }) {
  const [q, setQ] = useDraft(params.get('q') ?? '', (q) => change({ q }), 300);
  const [labels, setLabels] = useDraft(params.get('labels') ?? '', (labels) => change({ labels }), 400);
  const permits = params.get('permits') === '1';
  const by = params.get('by') ?? '';
  const [author, setAuthor] = useDraft(by, (by) => change({ by }), 300);
  const [size, setSize] = useState(50);
  const query = { names: globs(params.get('q') ?? ''), labels: params.get('labels') ?? '', permits };
  const journal = useData((signal) => get('/v1/history', { ...query, page_size: size }, signal),
    ['journal', query, size], { every: 15_000, keep: true });
  const read = useThrottled(journal.refresh, permits ? 500 : 60);
  useStream('/v1/watch', query,
    { message: ({ events = [] }) => events.length && read(), missed: read, open: (again) => again && read() });
  const entries = (journal.data?.entries ?? []).filter((e) => !by ||
    (e.author ?? '').toLowerCase().includes(by.toLowerCase()));
  return html`<form class="filters" role="search" onSubmit=${(e) => e.preventDefault()}>
      <div class="field grow"><label for="activity-q">Semaphores <kbd class="hover-only" aria-hidden="true">/</kbd></label>
      <input id="activity-q" data-search value=${q} onInput=${(e) => setQ(e.target.value)}
        placeholder="part of a name, or a glob" spellcheck=${false} autocomplete="off" /></div>
      <div class="field"><label for="activity-by">By</label>
      <input id="activity-by" value=${author} onInput=${(e) => setAuthor(e.target.value)} spellcheck=${false}
        autocomplete="off" /></div>
      <div class="field"><label for="activity-labels">Labels</label>
      <input id="activity-labels" value=${labels} onInput=${(e) => setLabels(e.target.value)} spellcheck=${false}
        autocomplete="off" /></div>
      <${Check} label="Show ended permits" checked=${permits}
        onChange=${(on) => change({ permits: on ? '1' : '' })} />
    </form>
    <section class="panel">
      <${Loaded} source=${journal} what="Loading the journal">
        ${(data) => html`
          ${entries.length
            ? html`<${Entries} entries=${entries} onChange=${journal.refresh} />`
            : html`<${Empty} title="No changes match.">Edits, pauses, cordons and undos appear
              here as they happen.<//>`}
          ${data.next_page_token && size < 1000 &&
            html`<p class="row"><button type="button"
              onClick=${() => setSize(Math.min(1000, size * 4))}>Show more</button></p>`}`}
      <//>
    </section>`;
}

function OneChange({ change }) {
  const journal = useData((signal) => get('/v1/history', { change, page_size: 1000 }, signal), ['change', change]);
  return html`<section class="panel">
    <${Loaded} source=${journal} what="Loading the journal">
      ${({ entries = [], missing, next_page_token: more }) => html`
        ${missing && html`<p class="note">The journal no longer has all entries of this
          change${missing.semaphores?.length ? `: ${missing.semaphores.join(', ')}` : ''}.</p>`}
        ${entries.length
          ? html`<${Entries} entries=${entries} onChange=${journal.refresh} />`
          : html`<${Empty} title=${`There is no change ${change} in the journal.`} />`}
        ${more && html`<p class="faint">Only the first 1,000 entries are shown.</p>`}
        ${entries.length > 0 && entries[0].undoes &&
          html`<p><a href=${`/activity?change=${entries[0].undoes}`}>Show the change that it undoes</a></p>`}`}
    <//>
  </section>`;
}
