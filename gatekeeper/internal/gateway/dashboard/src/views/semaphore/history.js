// The changes to a semaphore, and how its permits ended.
import { useState } from 'preact/hooks';
import { get } from '../../lib/api.js';
import { html } from '../../lib/html.js';
import { useQuery } from '../../lib/router.js';
import { useData } from '../../lib/use.js';
import { Check } from '../../ui/controls.js';
import { Entries } from '../../ui/entries.js';
import { Empty, Loaded } from '../../ui/feedback.js';

export function History({ name, events, onChange }) {
  const [params, change] = useQuery();
  const permits = params.get('permits') === '1';
  const [size, setSize] = useState(50);
  const history = useData((signal) => get('/v1/history', { names: [name], permits, page_size: size }, signal),
    ['history', name, permits, size, events], { keep: true });
  return html`<section class="panel">
    <div class="title"><h2>History</h2>
      <${Check} label="Show ended permits" checked=${permits}
        onChange=${(on) => change({ permits: on ? '1' : '' })} />
    </div>
    <${Loaded} source=${history} what="Loading the journal">
      ${(data) => html`
        ${data.entries?.length ? html`<${Entries} entries=${data.entries} semaphore=${name}
          onChange=${onChange} />` : html`<${Empty} title="No changes are recorded." />`}
        ${data.next_page_token && size < 1000 &&
          html`<p class="row"><button type="button"
            onClick=${() => setSize(Math.min(1000, size * 4))}>Show more</button></p>`}`}
    <//>
  </section>`;
}
