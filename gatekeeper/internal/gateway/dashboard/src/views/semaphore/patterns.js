// Shows which of the known callers two patterns admit. The servers are asked to preview a new semaphore with these
// patterns, which is never created.
import { useEffect, useState } from 'preact/hooks';
import { post } from '../../lib/api.js';
import { count, plural } from '../../lib/format.js';
import { html } from '../../lib/html.js';
import { useKnown } from '../../lib/known.js';
import { useData } from '../../lib/use.js';

const shown = 60;

export function PatternTest({ name, group, acquirer }) {
  const [asked, setAsked] = useState({ group, acquirer });
  useEffect(() => {
    const t = setTimeout(() => setAsked({ group, acquirer }), 250);
    return () => clearTimeout(t);
  }, [group, acquirer]);
  const { callers, more } = useKnown(1000);
  const test = useData(
    asked.group && asked.acquirer
      ? async (signal) => {
          const probe = { name: `${name.slice(0, 60)}~pattern-test`, group_pattern: asked.group,
            acquirer_pattern: asked.acquirer };
          return (await post('/v1/preview', { edits: { edits: [{ create: probe }] } }, signal)).effects?.[0] ?? {};
        }
      : null,
    ['patterns', asked],
    { keep: true },
  );
  const total = test.data?.eligible ?? test.data?.total_admitted ?? 0;
  const inside = new Set((test.data?.admitted ?? []).map((c) => `${c.acquirer} in ${c.group}`));
  const bad = test.error && !test.error.offline ? test.error.fields?.[0]?.rule ?? test.error.message : '';
  // The servers name only some callers. Whether the others are admitted is unknown.
  const whole = inside.size >= total;
  const sorted = [...callers].sort((a, b) =>
    inside.has(`${b.acquirer} in ${b.group}`) - inside.has(`${a.acquirer} in ${a.group}`));
  return html`<div class="pattern-test full" aria-live="polite">
    ${bad
      ? html`<p class="error">${bad}</p>`
      : callers.length === 0
        ? html`<p class="faint">No caller has asked yet, so there is nobody to test the patterns on.</p>`
        : html`<p><strong class=${total ? 'tone-run' : 'tone-deny'}>These patterns let
          in ${total ? count(total) : 'none'} of ${plural(callers.length, 'known caller',
            'known callers')}${more ? ' and more' : ''}.</strong></p>
            <ul class="chips">${sorted.slice(0, shown).map((c) => {
              const text = `${c.acquirer} in ${c.group}`;
              const is = inside.has(text);
              if (!is && !whole) return null;
              return html`<li key=${text} class=${is ? 'in' : 'out'}><span aria-hidden="true">${is ? '✓' : '✗'}</span>
                <span class="sr-only">${is ? 'let in: ' : 'not let in: '}</span>${text}</li>`;
            })}${callers.length > shown && html`<li class="out">and ${count(callers.length - shown)} more</li>`}</ul>`}
  </div>`;
}
