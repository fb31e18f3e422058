// Why a caller would or would not get a permit: the decision, step by step. Nothing is changed.
import { useRef, useState } from 'preact/hooks';
import { path, post } from '../../lib/api.js';
import { count, ms, plural } from '../../lib/format.js';
import { html } from '../../lib/html.js';
import { useKnown } from '../../lib/known.js';
import { useQuery } from '../../lib/router.js';
import { useData } from '../../lib/use.js';
import { who, word } from '../../lib/words.js';
import { Check, Text } from '../../ui/controls.js';
import { Failure, Loading } from '../../ui/feedback.js';
import { Since } from '../../ui/table.js';

// If the address names no caller, the form starts with a denied one.
export function Explain({ name, record }) {
  const [params, change] = useQuery();
  const denied = record?.denied?.[0];
  const begin = useRef(denied && { group: denied.identity.group, acquirer: denied.identity.acquirer,
    weight: denied.weight > 1 ? String(denied.weight) : '', worker: denied.worker ? '1' : '' });
  const first = params.has('acquirer') ? {} : begin.current ?? {};
  const asked = { group: params.get('group') ?? first.group ?? '', acquirer: params.get('acquirer') ?? first.acquirer ?? '',
    weight: params.get('weight') ?? first.weight ?? '', worker: params.get('worker') ?? first.worker ?? '' };
  const [form, setForm] = useState(asked);
  const { callers, groups } = useKnown(1000);
  const body = { identity: { group: asked.group, acquirer: asked.acquirer },
    ...(asked.weight && { weight: Number(asked.weight) }), ...(asked.worker && { worker: true }) };
  const answer = useData(asked.acquirer ? (signal) => post(path`/v1/semaphores/${name}:explain`, body, signal) : null,
    ['explain', name, asked], { keep: true, every: 5_000 });
  const submit = (event) => {
    event.preventDefault();
    change(form);
    answer.refresh();
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
        help="A worker asks for a task." />
      <datalist id="known-groups">${groups.map((g) =>
        html`<option value=${g} />`)}</datalist>
      <datalist id="known-acquirers">${[...new Set(callers.map((c) => c.acquirer))].map((a) =>
        html`<option value=${a} />`)}</datalist>
      <p class="row full"><button class="primary">Explain</button></p>
    </form>
    ${answer.error && !answer.error.offline && html`<${Failure} error=${answer.error} />`}
    ${asked.acquirer && !answer.data && !answer.error && html`<${Loading} what="Asking" />`}
    ${answer.data && html`<${Answer} of=${answer.data} />`}
  </section>`;
}

function Answer({ of }) {
  const granted = !of.reason || of.reason === 'REASON_UNSPECIFIED';
  return html`<div class="stack" role="status">
    <p class="lead tone-${granted ? 'run' : 'deny'}">
    <strong>${granted ? 'This caller would get a permit.' : `Denied: ${word(of.reason, 'REASON_')}.`}</strong> ${of.summary}</p>
    ${of.recovering && html`<p class="note">Nothing is granted for another ${Math.ceil(ms(of.recovering) / 1000)} s,
      after a recovery of the cluster.</p>`}
    <ol class="steps">
      ${(of.steps ?? []).map((s) => html`<li key=${s.number}>
        <span class="step-mark tone-${s.passed ? 'run' : 'deny'}">
        <span aria-hidden="true">${s.passed ? '✓' : '✗'}</span>
        <span class="sr-only">${s.passed ? 'passed' : 'failed'}</span></span>
        <span class="step-name">${s.number} ${s.name}</span><span>${s.text}</span>
      </li>`)}
    </ol>
    ${of.holders?.length > 0 &&
      html`<p>Taken by ${of.holders.slice(0, 5).map((p, i) =>
        html`${i ? ', ' : ''}${who(p.identity)} for <${Since} at=${p.granted_at} />`)}${(of.holder_count ?? 0) > 5 &&
          ` and ${count(of.holder_count - 5)} more`}.</p>`}
    ${of.waiter_count > 0 && html`<p>${plural(of.waiter_count, 'caller is waiting', 'callers are waiting')} in the queue.</p>`}
    ${of.why_tasks_wait && html`<p>${of.why_tasks_wait}</p>`}
  </div>`;
}
