// The dialog that removes a member, with a preview of the remaining cluster.
import { post } from '../../lib/api.js';
import { plural } from '../../lib/format.js';
import { html } from '../../lib/html.js';
import { store, useStore } from '../../lib/store.js';
import { Review } from '../../ui/review.js';

// The member to remove, if any.
const removing = store(null);

export const openRemoval = (member, onDone) => removing.set({ member, onDone });

// RemainingVoters shows the voters that remain after a removal, and how many of them the cluster needs.
function RemainingVoters({ preview }) {
  const voters = (preview.members ?? []).filter((m) => m.voter).map((m) => m.id);
  const majority = Math.floor(voters.length / 2) + 1;
  const spare = voters.length - majority;
  const unresponsive = preview.silent ?? [];
  return html`
    <p class="lead">${plural(voters.length, 'voter remains', 'voters remain')}: ${voters.join(', ')}.</p>
    <p>The cluster needs ${majority} of ${voters.length === 1 ? 'it' : 'them'}:
      ${spare ? ` it keeps working while ${plural(spare, 'voter is', 'voters are')} down.` : ' it stops working if one is down.'}</p>
    ${unresponsive.length > 0 && html`<p class="note">${unresponsive.join(', ')} ${unresponsive.length === 1 ? 'is' : 'are'} not
      responding.</p>`}`;
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
    show=${(p) => html`<p>${id} will be removed permanently: it will stop, and its id can never be used again. A new server
      needs a new id and an empty data directory.${r.member.leader && ' It is the leader, so another server will take over.'}</p><${RemainingVoters} preview=${p} />`}
    nothing=${(p) => (p.already_removed ? `${id} has already been removed.` : p.refusal ?? '')}
    run=${() => post('/v1/members:remove', { id })}
    done=${(a) => `${id} removed. ${plural(a.members?.length ?? 0, 'member remains', 'members remain')}.`}
    onDone=${r.onDone}
    onClose=${() => removing.set(null)}
  />`;
}
