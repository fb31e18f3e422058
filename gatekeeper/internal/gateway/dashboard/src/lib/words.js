// Describes the servers' responses in the same words as gkctl and docs/concepts.md.
import { brief, count, dateTime, durationInput, ms, plural, shortTime, summarizeNames } from './format.js';

// enumText returns an enum value in lower case, without its type's prefix: STOP_CAUSE_HELD_TOO_LONG becomes "held too
// long".
export function enumText(value, prefix) {
  if (!value || value === `${prefix}UNSPECIFIED`) return '';
  return value.slice(prefix.length).toLowerCase().replaceAll('_', ' ');
}

// The states of a definition, most urgent first. A stopping holder comes before a denial, because the slot that it
// frees may resolve the denial. tone is a colour in tokens.css.
export const states = [
  { value: 'DEFINITION_STATE_DISABLED', word: 'disabled', tone: 'deny',
    help: 'A pattern cannot be compiled, so no caller is admitted.' },
  { value: 'DEFINITION_STATE_HELD', word: 'held for an operator', tone: 'stop',
    help: 'A slot is held until an operator clears it.' },
  { value: 'DEFINITION_STATE_STOPPING', word: 'stopping', tone: 'stop', help: 'A holder must stop.' },
  { value: 'DEFINITION_STATE_CORDONED', word: 'cordoned', tone: 'deny', help: 'No permits are granted because of a cordon.' },
  { value: 'DEFINITION_STATE_DENIED', word: 'denied', tone: 'deny',
    help: 'Callers are denied, and no permits are granted until an operator intervenes.' },
  { value: 'DEFINITION_STATE_UNMATCHED', word: 'unmatched', tone: 'stop',
    help: 'No known caller matches its patterns.' },
  { value: 'DEFINITION_STATE_MISSED', word: 'missed', tone: 'stop', help: 'Expected work has not run.' },
  { value: 'DEFINITION_STATE_PAUSED', word: 'paused', tone: 'pause', help: 'No permits are granted until the pause ends.' },
  { value: 'DEFINITION_STATE_WAITING', word: 'waiting', tone: 'wait', help: 'A caller is waiting in the queue.' },
  { value: 'DEFINITION_STATE_RUNNING', word: 'running', tone: 'run', help: 'A permit is held.' },
  { value: 'DEFINITION_STATE_IDLE', word: 'idle', tone: 'idle', help: 'None of the other states applies.' },
];

const unknown = { value: '', word: 'unknown', tone: 'idle', help: '' };

export const findState = (value) => states.find((s) => s.value === value) ?? unknown;

// recordStates returns all states of a record, most urgent first.
export const recordStates = (record) => states.filter((s) => record.states?.includes(s.value));

// blockingDenials returns the denials that need an operator's attention, most likely cause first. A caller that is
// denied while another is served counts as a standby, and is omitted. If nobody is served because of a cordon, callers
// that are not cordoned are omitted too.
const blockingDenials = (record) => {
  const cordoned = record.states?.includes('DEFINITION_STATE_CORDONED');
  return (record.denied ?? []).filter((d) => !d.other_holder && (!cordoned || d.reason === 'REASON_CORDONED'));
};

// recordNotes explains why callers are denied, what was missed, which edits will be reverted, and what the servers warn
// about.
export function recordNotes(record) {
  const out = [];
  if (record.disabled) out.push(`Disabled: ${record.disabled}`);
  if (record.pause) out.push(pauseSentence(record.pause));
  if (record.missed) out.push(missedText(record.missed));
  for (const d of blockingDenials(record).slice(0, 1)) out.push(deniedText(d, blockingDenials(record).length - 1));
  for (const e of record.ends ?? [])
    out.push(`${e.fields.join(', ')}: ${e.fields.length === 1 ? 'reverts' : 'revert'} at ${dateTime(e.until)}.`);
  return [...out, ...(record.warnings ?? [])];
}

// rowNote returns the most urgent note. The row may truncate it, so the cause comes first.
export function rowNote(record) {
  const [d, ...more] = blockingDenials(record);
  if (d && !record.disabled && !record.pause && !record.missed)
    return `${enumText(d.reason, 'REASON_')}: ${who(d.identity)}, ${deniedWhen(d)}${more.length ? `; ${count(more.length)} more` : ''}`;
  return recordNotes(record)[0];
}

// deniedWhen returns the time since which a caller has been denied, or the time of its only denial.
export const deniedWhen = (d) =>
  (d.count > 1 ? `since ${shortTime(d.first)}` : `once at ${shortTime(d.last)}`);

export const deniedText = (d, more = 0) =>
  `${who(d.identity)} is denied, ${deniedWhen(d)}: ${d.message}${more
    ? ` ${plural(more, 'more caller is', 'more callers are')} denied.` : ''}`;

export function pauseSentence(p) {
  let text = p.until ? `Paused until ${dateTime(p.until)}` : 'Paused until resumed';
  if (p.reason) text += `: ${p.reason}`;
  if (p.stop) text += p.drain ? `. Holders must stop within ${brief(ms(p.drain))}` : '. Holders must stop';
  return `${text}. By ${p.author || 'someone'}.`;
}

export function missedText(m) {
  const kind = enumText(m.kind, 'MISSED_KIND_');
  return m.text || `Missed: ${kind}${m.reason ? ` (${enumText(m.reason, 'REASON_')})` : ''}`;
}

export const who = (identity) => `${identity?.acquirer ?? ''} in ${identity?.group || 'default'}`;

export function permitState(p) {
  let text = enumText(p.state, 'PERMIT_STATE_') || 'live';
  if (text === 'held') text = 'held for an operator';
  if (p.drain_left) text += `, draining for ${brief(ms(p.drain_left))}`;
  const cause = enumText(p.stop, 'STOP_CAUSE_');
  if (cause) text += `, stopping: ${cause}${p.stop_reason ? ` (${p.stop_reason})` : ''}`;
  return text;
}

export const permitTone = (p) =>
  (p.state === 'PERMIT_STATE_HELD' || p.stop ? 'stop' : p.state === 'PERMIT_STATE_COOLING' ? 'idle' : 'run');

export function firingName(f) {
  if (!f) return '';
  return f.due ? `${f.name}@${f.due.replace(/\.000Z$/, 'Z')}` : f.name;
}

// A definition's fields, in the same order as in a definition file. kind determines the input.
export const fields = [
  { name: 'description', kind: 'text', label: 'Description', help: 'Free-form text.' },
  { name: 'labels', kind: 'labels', label: 'Labels',
    help: 'One key=value per line. Commands and filters can select by label.' },
  { name: 'group_pattern', kind: 'pattern', label: 'Group pattern',
    help: 'A regular expression (RE2) that must match the whole group.' },
  { name: 'acquirer_pattern', kind: 'pattern', label: 'Acquirer pattern',
    help: 'The same for the acquirer, normally a host.' },
  { name: 'permits', kind: 'number', label: 'Permits', help: 'The number of slots. A holder takes as many as its weight. 0 admits no callers.' },
  { name: 'duration', kind: 'duration', label: 'Duration',
    help: 'How long a permit lasts without a refresh. This limits how long a dead holder keeps its slot.' },
  { name: 'max_hold', kind: 'duration', label: 'Max hold',
    help: 'A holder must stop after this time. Empty: no limit.' },
  { name: 'min_hold', kind: 'duration', label: 'Min hold',
    help: 'The slot stays taken at least this long after a grant.' },
  { name: 'loss_delay', kind: 'duration', label: 'Loss delay',
    help: 'After a holder is lost, the slot stays taken this much longer.' },
  { name: 'on_expiry', kind: 'choice', prefix: 'ON_EXPIRY_', values: ['FREE', 'HOLD'], label: 'On expiry',
    help: 'What happens to the slot when a permit expires. hold: it stays taken until an operator clears it.' },
  { name: 'takeover', kind: 'flag', label: 'Takeover',
    help: 'A caller may take over the permit of a holder that it considers dead.' },
  { name: 'expect_every', kind: 'duration', label: 'Expect every',
    help: 'How often this work should run; if it does not, it is shown as missed. Empty: no expectation.' },
  { name: 'firing_on_loss', kind: 'choice', prefix: 'FIRING_ON_LOSS_', values: ['SPENT', 'FREE'],
    label: 'Firing on loss', help: 'What happens to a firing whose permit is lost. free: it can be claimed again.' },
  { name: 'firing_retention', kind: 'duration', label: 'Firing retention',
    help: 'How long a firing is remembered after its due time.' },
  { name: 'firing_limit', kind: 'number', label: 'Firing limit', help: 'The maximum number of remembered firings.' },
  { name: 'firing_max_ahead', kind: 'duration', label: 'Firing max ahead',
    help: 'How far ahead of the leader’s clock a firing may be due. 0: no limit.' },
  { name: 'max_attempts', kind: 'number', label: 'Max attempts',
    help: 'How many holders may attempt a firing. 0: no limit.' },
  { name: 'misfire', kind: 'choice', prefix: 'MISFIRE_', values: ['SKIP', 'ONCE', 'EACH'], label: 'Misfire',
    help: 'What happens to firings that nobody claimed when they were due.' },
  { name: 'misfire_window', kind: 'duration', label: 'Misfire window',
    help: 'How late such a firing may still run.' },
];

// fieldText formats a field of a definition for display; '' if absent.
export function fieldText(field, d) {
  const v = d?.[field.name];
  switch (field.kind) {
    case 'labels':
      return Object.keys(v ?? {}).sort().map((k) => (v[k] === '' ? k : `${k}=${v[k]}`)).join(', ');
    case 'duration':
      return durationInput(v);
    case 'choice': {
      const value = enumText(v, field.prefix);
      return value || field.values[0].toLowerCase();
    }
    case 'flag':
      return v ? 'yes' : 'no';
    case 'number':
      return String(v ?? 0);
  }
  return v ?? '';
}

// changes returns the fields in which two definitions differ, as {field, before, after}, where before and after are
// text.
export function changes(before, after) {
  return fields
    .map((field) => ({ field, before: fieldText(field, before), after: fieldText(field, after) }))
    .filter((c) => c.before !== c.after);
}

export const callersText = (list = [], total = list.length, shown = 2) => {
  const names = list.slice(0, shown).map((c) => `${c.acquirer} in ${c.group}`);
  const more = total - names.length;
  return names.join(', ') + (more > 0 ? ` and ${count(more)} more` : '');
};

// stopText describes how many holders a change stops, how many drains it cuts short, and when the last slot is free.
export function stopText(effects = []) {
  const all = effects.flatMap((e) => e.stopped ?? []);
  if (all.length === 0) return 'No holder has to stop.';
  const cutShort = all.filter((s) => s.drain_left).length;
  const parts = [];
  if (all.length > cutShort) parts.push(`${plural(all.length - cutShort, 'holder', 'holders')} must stop`);
  if (cutShort) parts.push(`the ${cutShort === 1 ? 'drain of 1 holder is' : `drains of ${cutShort} holders are`} cut short`);
  const text = `${parts.join(', ')}. Every slot is free within ${brief(Math.max(...all.map((s) => ms(s.free_within))))}.`;
  return text[0].toUpperCase() + text.slice(1);
}

// allWarnings returns the warnings about the change and about its semaphores. Identical warnings are merged.
export function allWarnings(effects = [], whole = []) {
  const byText = new Map();
  for (const e of effects) for (const w of e.warnings ?? []) byText.set(w, [...(byText.get(w) ?? []), e.semaphore]);
  return [...whole, ...[...byText].map(([text, names]) => `${summarizeNames(names)}: ${text}`)];
}

const changesText = (list) => `${list.length === 1 ? 'change' : 'changes'} ${summarizeNames(list, 5)}`;

// cordonTarget names the callers that a cordon shuts out.
export const cordonTarget = (c) =>
  [c.group_pattern && `group ${c.group_pattern}`, c.acquirer_pattern && `host ${c.acquirer_pattern}`]
    .filter(Boolean).join(' or ');

export const cordonEnd = (c) => (c.until ? `until ${shortTime(c.until)}` : 'until further notice');

export const cordonText = (c) => `${cordonTarget(c)} ${cordonEnd(c)}`;

// historyText describes what a journal entry changed, except for the fields, which changes() returns.
export function historyText(e) {
  const parts = [];
  const kind = enumText(e.kind, 'EVENT_KIND_');
  if (e.until && kind !== 'resumed') parts.push(`until ${dateTime(e.until)}`);
  const p = e.pause;
  if (p && kind !== 'resumed') {
    if (kind === 'created' || kind === 'deleted') parts.push('while paused');
    if (p.until) parts.push(`until ${dateTime(p.until)}`);
    if (p.stop) parts.push(p.drain ? `holders must stop within ${brief(ms(p.drain))}` : 'holders must stop');
  }
  if (e.pause_before) parts.push(`replaces the pause from change ${e.pause_before.change}`);
  if (e.cordon) parts.push(`“${e.cordon.id}”, ${cordonText(e.cordon)}`);
  if (e.cordon_before) parts.push(`replaces the cordon from change ${e.cordon_before.change}`);
  if (e.firings?.firings?.length) {
    const names = e.firings.firings.map((f) => firingName(f.firing));
    const verb = kind === 'firings remembered' ? 'remembered again' : 'forgotten';
    parts.push(`${plural(names.length, 'firing', 'firings')} ${verb} (${summarizeNames(names)})`);
  }
  if (e.binding_before || e.binding_after) parts.push(`binding ${(e.binding_after ?? e.binding_before).name}`);
  if (e.undone_by && e.undone_by !== '0') parts.push(`undone by change ${e.undone_by}`);
  if (e.undoes && e.undoes !== '0' && !/^undo of change/.test(e.reason ?? ''))
    parts.push(`undoes ${changesText([e.undoes, ...(e.also_undoes ?? [])])}`);
  if (e.permit) parts.push(`${who(e.permit.identity)}, token ${e.permit.token}`);
  const missed = enumText(e.missed, 'MISSED_KIND_');
  if (missed) parts.push(missed);
  if (e.drain) parts.push(`drain ${brief(ms(e.drain))}`);
  return [...new Set(parts)].join('; ');
}

// kindText returns the name of an event. A replaced definition is shown as edited.
export const kindText = (kind) => (kind === 'EVENT_KIND_REPLACED' ? 'edited' : enumText(kind, 'EVENT_KIND_'));

const tones = {
  created: 'run', replaced: 'accent', deleted: 'deny', paused: 'pause', resumed: 'run', cordoned: 'deny',
  uncordoned: 'run', granted: 'run',
  released: 'idle', expired: 'stop', held: 'stop', cleared: 'run', stopping: 'stop', missed: 'stop', heard: 'run',
  'freed unsafely': 'deny',
};

export const eventTone = (kind) => tones[enumText(kind, 'EVENT_KIND_')] ?? 'idle';

// undoable reports whether an entry can be undone and has not been undone yet.
export const undoable = (e) =>
  (!e.undone_by || e.undone_by === '0') &&
  ['CREATED', 'REPLACED', 'DELETED', 'PAUSED', 'RESUMED', 'CORDONED', 'UNCORDONED',
    'FIRINGS_FORGOTTEN', 'FIRINGS_REMEMBERED']
    .includes(e.kind?.slice('EVENT_KIND_'.length));

export function grantText(g) {
  let text = enumText(g.role, 'ROLE_');
  if (g.semaphores?.length) text += ` on ${g.semaphores.join(', ')}`;
  if (g.labels) text += ` where ${g.labels}`;
  if (g.group) text += ` in group ${g.group}`;
  if (g.acquirer) text += ` as acquirer ${g.acquirer}`;
  return text;
}
