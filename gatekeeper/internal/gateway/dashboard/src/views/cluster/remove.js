// Removing a member, with a preview of what is left.
import { post } from '../../lib/api.js';
import { plural } from '../../lib/format.js';
import { html } from '../../lib/html.js';
import { store, useStore } from '../../lib/store.js';
import { Review } from '../../ui/review.js';

// The member to remove, if any.
const removing = store(null);

export const openRemoval = (member, onDone) => removing.set({ member, onDone });

// Left shows the voters that a removal leaves, and how many of them the cluster needs.
function Left({ of }) {
  const voters = (of.members ?? []).filter((m) => m.voter).map((m) => m.id);
  const majority = Math.floor(voters.length / 2) + 1;
  const spare = voters.length - majority;
  const silent = of.silent ?? [];
  return html`
    <p class="lead">${plural(voters.length, 'voter is', 'voters are')} left: ${voters.join(', ')}.</p>
    <p>The cluster needs ${majority} of ${voters.length === 1 ? 'it' : 'them'}:
      ${spare ? ` it keeps working while ${plural(spare, 'voter is', 'voters are')} away.` : ' it stops when one is away.'}</p>
    ${silent.length > 0 && html`<p class="note">${silent.join(', ')} ${silent.length === 1 ? 'does' : 'do'} not answer
      now.</p>`}`;
}

export function RemoveDialog() {
  const r = useStore(removing);
  if (!r) return null;
  const id = r.member.id;
  return html`<${Review}
    key=${id}
    title=${`Remove ${id}`}
    verb=${`Remove ${id}`}
    kind="danger"
    role="ROLE_ADMIN"
    journal=${false}
    preview=${(signal) => post('/v1/members:remove', { id, dry_run: true }, signal)}
    show=${(p) => html`<p>${id} leaves permanently: it stops, and its id can never be used again. A new server
      needs a new id and an empty
      data directory.${r.member.leader && ' It leads now, so another server takes over.'}</p><${Left} of=${p} />`}
    nothing=${(p) => (p.already_removed ? `${id} has already been removed.` : p.refusal ?? '')}
    run=${() => post('/v1/members:remove', { id })}
    done=${(a) => `${id} is removed. ${plural(a.members?.length ?? 0, 'member is', 'members are')} left.`}
    onDone=${r.onDone}
    onClose=${() => removing.set(null)}
  />`;
}
