// Shows which known callers two patterns admit, by previewing the creation of a semaphore with these patterns.
import { useEffect, useState } from 'preact/hooks';
import { post } from '../../lib/api.js';
import { count, plural } from '../../lib/format.js';
import { html } from '../../lib/html.js';
import { useKnown } from '../../lib/known.js';
import { useData } from '../../lib/use.js';

const shown = 60;

export function PatternTest({ name, group, acquirer }) {
  const [tested, setTested] = useState({ group, acquirer });
  useEffect(() => {
    const t = setTimeout(() => setTested({ group, acquirer }), 250);
    return () => clearTimeout(t);
  }, [group, acquirer]);
  const { callers, more } = useKnown(1000);
  const result = useData(
    tested.group && tested.acquirer
      ? async (signal) => {
          const probe = { name: `${name.slice(0, 60)}~pattern-test`, group_pattern: tested.group,
            acquirer_pattern: tested.acquirer };
          return (await post('/v1/preview', { edits: { edits: [{ create: probe }] } }, signal)).effects?.[0] ?? {};
        }
      : null,
    ['patterns', tested],
    { keep: true },
  );
  const total = result.data?.eligible ?? result.data?.total_admitted ?? 0;
  const admitted = new Set((result.data?.admitted ?? []).map((c) => `${c.acquirer} in ${c.group}`));
  const error = result.error && !result.error.offline ? result.error.fields?.[0]?.rule ?? result.error.message : '';
  // The servers may list only some of the admitted callers. It is then unknown whether the rest are admitted.
  const complete = admitted.size >= total;
  const sorted = [...callers].sort((a, b) =>
    admitted.has(`${b.acquirer} in ${b.group}`) - admitted.has(`${a.acquirer} in ${a.group}`));
  return html`<div class="pattern-test full" aria-live="polite">
    ${error
      ? html`<p class="error">${error}</p>`
      : callers.length === 0
        ? html`<p class="faint">No callers are known yet, so there are none to test the patterns on.</p>`
        : html`<p><strong class=${total ? 'tone-run' : 'tone-deny'}>These patterns
          admit ${total ? count(total) : 'none'} of ${plural(callers.length, 'known caller',
            'known callers')}${more ? ' or more' : ''}.</strong></p>
            <ul class="chips">${sorted.slice(0, shown).map((c) => {
              const text = `${c.acquirer} in ${c.group}`;
              const admits = admitted.has(text);
              if (!admits && !complete) return null;
              return html`<li key=${text} class=${admits ? 'in' : 'out'}><span aria-hidden="true">${admits ? '✓' : '✗'}</span>
                <span class="sr-only">${admits ? 'admitted: ' : 'not admitted: '}</span>${text}</li>`;
            })}${callers.length > shown && html`<li class="out">and ${count(callers.length - shown)} more</li>`}</ul>`}
  </div>`;
}
