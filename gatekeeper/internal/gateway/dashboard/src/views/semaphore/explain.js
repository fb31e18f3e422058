// Why a caller would or would not get a permit: the decision, step by step. This changes nothing.
import { useRef, useState } from 'preact/hooks';
import { path, post } from '../../lib/api.js';
import { count, ms, plural } from '../../lib/format.js';
import { html } from '../../lib/html.js';
import { useKnown } from '../../lib/known.js';
import { useQuery } from '../../lib/router.js';
import { useData } from '../../lib/use.js';
import { enumText, who } from '../../lib/words.js';
import { Check, Text } from '../../ui/controls.js';
import { Failure, Loading } from '../../ui/feedback.js';
import { Since } from '../../ui/table.js';

// If the URL does not specify a caller, the form starts with a denied one.
export function Explain({ name, record }) {
  const [params, change] = useQuery();
  const denied = record?.denied?.[0];
  const initial = useRef(denied && { group: denied.identity.group, acquirer: denied.identity.acquirer,
    weight: denied.weight > 1 ? String(denied.weight) : '', worker: denied.worker ? '1' : '' });
  const defaults = params.has('acquirer') ? {} : initial.current ?? {};
  const query = { group: params.get('group') ?? defaults.group ?? '', acquirer: params.get('acquirer') ?? defaults.acquirer ?? '',
    weight: params.get('weight') ?? defaults.weight ?? '', worker: params.get('worker') ?? defaults.worker ?? '' };
  const [form, setForm] = useState(query);
  const { callers, groups } = useKnown(1000);
  const body = { identity: { group: query.group, acquirer: query.acquirer },
    ...(query.weight && { weight: Number(query.weight) }), ...(query.worker && { worker: true }) };
  const explanation = useData(query.acquirer ? (signal) => post(path`/v1/semaphores/${name}:explain`, body, signal) : null,
    ['explain', name, query], { keep: true, every: 5_000 });
  const submit = (event) => {
    event.preventDefault();
    change(form);
    explanation.refresh();
  };
  const set = (field) => (value) => setForm({ ...form, [field]: value });
  return html`<section class="panel">
    <h2>Would this caller get a permit?</h2>
    <form class="form" onSubmit=${submit}>
      <${Text} label="Group" value=${form.group} onInput=${set('group')} list="known-groups" placeholder="default"
        help="Where the caller runs: a zone, a site." />
      <${Text} label="Acquirer" value=${form.acquirer} onInput=${set('acquirer')} list="known-acquirers" required
        help="The caller, normally a host." />
      <${Text} label="Weight" type="number" min="1" value=${form.weight} onInput=${set('weight')} placeholder="1" />
      <${Check} label="As a worker" checked=${form.worker === '1'} onChange=${(on) => set('worker')(on ? '1' : '')}
        help="A worker requests a task." />
      <datalist id="known-groups">${groups.map((g) =>
        html`<option value=${g} />`)}</datalist>
      <datalist id="known-acquirers">${[...new Set(callers.map((c) => c.acquirer))].map((a) =>
        html`<option value=${a} />`)}</datalist>
      <p class="row full"><button class="primary">Explain</button></p>
    </form>
    ${explanation.error && !explanation.error.offline && html`<${Failure} error=${explanation.error} />`}
    ${query.acquirer && !explanation.data && !explanation.error && html`<${Loading} what="Loading the explanation" />`}
    ${explanation.data && html`<${Explanation} explanation=${explanation.data} />`}
  </section>`;
}

function Explanation({ explanation }) {
  const granted = !explanation.reason || explanation.reason === 'REASON_UNSPECIFIED';
  return html`<div class="stack" role="status">
    <p class="lead tone-${granted ? 'run' : 'deny'}">
    <strong>${granted ? 'This caller would get a permit.' : `Denied: ${enumText(explanation.reason, 'REASON_')}.`}</strong> ${explanation.summary}</p>
    ${explanation.recovering && html`<p class="note">After a recovery of the cluster, no permits are granted for
      another ${Math.ceil(ms(explanation.recovering) / 1000)} s.</p>`}
    <ol class="steps">
      ${(explanation.steps ?? []).map((s) => html`<li key=${s.number}>
        <span class="step-mark tone-${s.passed ? 'run' : 'deny'}">
        <span aria-hidden="true">${s.passed ? '✓' : '✗'}</span>
        <span class="sr-only">${s.passed ? 'passed' : 'failed'}</span></span>
        <span class="step-name">${s.number} ${s.name}</span><span>${s.text}</span>
      </li>`)}
    </ol>
    ${explanation.holders?.length > 0 &&
      html`<p>Taken by ${explanation.holders.slice(0, 5).map((p, i) =>
        html`${i ? ', ' : ''}${who(p.identity)} for <${Since} at=${p.granted_at} />`)}${(explanation.holder_count ?? 0) > 5 &&
          ` and ${count(explanation.holder_count - 5)} more`}.</p>`}
    ${explanation.waiter_count > 0 && html`<p>${plural(explanation.waiter_count, 'caller is waiting', 'callers are waiting')} in the queue.</p>`}
    ${explanation.why_tasks_wait && html`<p>${explanation.why_tasks_wait}</p>`}
  </div>`;
}
