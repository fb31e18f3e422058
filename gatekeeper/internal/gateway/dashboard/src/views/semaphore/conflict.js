// A definition edited by two people: for each field, the original value and both new ones.
import { useState } from 'preact/hooks';
import { dateTime } from '../../lib/format.js';
import { html } from '../../lib/html.js';
import { Tag } from '../../ui/glyph.js';
import { Table } from '../../ui/table.js';

// Conflict lets the user choose one of two values for each field that both edits changed. onMerged receives the merged
// form.
export function Conflict({ conflict, base, onMerged, onCancel }) {
  const { theirs, conflicts, rows } = conflict;
  const [chosen, setChosen] = useState({}); // by field: mine or theirs
  const unresolved = conflicts.filter((name) => !chosen[name]);
  const finish = () => {
    const merged = { ...conflict.merged };
    for (const row of rows) if (chosen[row.field.name]) merged[row.field.name] = row[chosen[row.field.name]];
    onMerged(merged);
  };
  const keepCell = (row) => {
    const name = row.field.name;
    if (!conflicts.includes(name)) {
      if (row.mine === row.theirs) return html`<${Tag}>the same<//>`;
      return row.mine !== row.base ? html`<${Tag} tone="accent">yours<//>` : html`<${Tag} tone="wait">theirs<//>`;
    }
    const radio = (which, text) => html`<label class="radio">
      <input type="radio" name=${`keep-${name}`} checked=${chosen[name] === which}
        onChange=${() => setChosen({ ...chosen, [name]: which })} /> ${text}
    </label>`;
    return html`<fieldset class="radios">
      <legend class="sr-only">Which ${row.field.label} to
      keep</legend>${radio('mine', 'yours')}${radio('theirs', 'theirs')}</fieldset>`;
  };
  return html`<section class="panel conflict" aria-label="Conflict">
    <h2>Another user saved first</h2>
    <p role="alert">${theirs.updated_by || 'Another user'} saved
    version ${theirs.version} at ${dateTime(theirs.updated_at)}${theirs.reason && ` (${theirs.reason})`}. You started
      from version ${base?.version ?? '–'}. Your changes have not been saved yet, and nothing is lost.</p>
    <${Table}
      caption="Fields that differ"
      rows=${rows}
      rowKey=${(r) => r.field.name}
      columns=${[
        ['Field', (r) => r.field.label],
        ['Original', (r) => html`<code>${r.base || '(none)'}</code>`],
        ['Yours', (r) => (r.mine === r.base ? html`<span class="faint">unchanged</span>` : html`<ins>${r.mine || '(none)'}</ins>`)],
        ['Theirs', (r) => (r.theirs === r.base ? html`<span class="faint">unchanged</span>` : html`<ins class="theirs">${r.theirs || '(none)'}</ins>`)],
        ['Keep', keepCell],
      ]}
    />
    <p class="row end">
      <span class="grow" role="status">${unresolved.length ? `Choose a value for ${unresolved.length === 1 ? '1 field' : `${unresolved.length} fields`} that you both changed.` : 'All conflicts are resolved.'}</span>
      <button type="button" onClick=${onCancel}>Back to the form</button>
      <button type="button" class="primary" aria-disabled=${unresolved.length ? 'true' : undefined}
        onClick=${() => unresolved.length || finish()}>Review the result …</button>
    </p>
  </section>`;
}
