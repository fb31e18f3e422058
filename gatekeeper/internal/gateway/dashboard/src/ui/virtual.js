// A list of any length. Only the visible rows are in the document. The page itself scrolls.
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { html } from '../lib/html.js';

const overscan = 4; // rows above and below the screen
const step = 4; // the window moves by this many rows, so that most scrolling renders nothing

// Virtual shows total rows of the given height (px). row(i) renders the contents of a row. range(from, to) is called
// with the visible rows. The arrow keys, Home, End, Page Up and Page Down move the focus, and Enter calls open(i).
export function Virtual({ total, height, row, range, open, label, head, columns }) {
  const ref = useRef(null);
  const [view, setView] = useState([0, 30]);
  const [active, setActive] = useState(0);
  const focusPending = useRef(false); // the active row should receive the focus

  useLayoutEffect(() => {
    let frame = 0;
    const measure = () => {
      frame = 0;
      const box = ref.current?.getBoundingClientRect();
      if (!box) return;
      const from = Math.max(0, Math.floor(-box.top / height / step) * step - overscan);
      const to = Math.min(total, Math.ceil((innerHeight - box.top) / height / step) * step + overscan);
      setView((v) => (v[0] === from && v[1] === to ? v : [from, Math.max(from, to)]));
    };
    const scheduleMeasure = () => (frame ||= requestAnimationFrame(measure));
    measure();
    addEventListener('scroll', scheduleMeasure, { passive: true });
    addEventListener('resize', scheduleMeasure);
    const observer = new ResizeObserver(scheduleMeasure);
    observer.observe(document.body);
    return () => {
      cancelAnimationFrame(frame);
      removeEventListener('scroll', scheduleMeasure);
      removeEventListener('resize', scheduleMeasure);
      observer.disconnect();
    };
  }, [total, height]);

  useEffect(() => {
    range?.(view[0], view[1]);
  }, [view[0], view[1], total]);

  useLayoutEffect(() => {
    if (!focusPending.current) return;
    const el = ref.current?.querySelector(`[data-row="${active}"]`);
    if (!el) return;
    focusPending.current = false;
    el.focus({ preventScroll: true });
    el.scrollIntoView({ block: 'nearest' });
  });

  const at = Math.min(active, Math.max(0, total - 1));
  const move = (to) => {
    if (total === 0) return;
    focusPending.current = true;
    setActive(Math.max(0, Math.min(total - 1, to)));
    // A row that is not in the document yet must be scrolled to first.
    const top = ref.current.getBoundingClientRect().top + scrollY + to * height;
    if (top < scrollY || top > scrollY + innerHeight) scrollTo(0, Math.max(0, top - innerHeight / 2));
  };
  const page = Math.max(1, Math.floor(innerHeight / height) - 4);
  const moves = {
    ArrowDown: () => move(at + 1),
    ArrowUp: () => move(at - 1),
    PageDown: () => move(at + page),
    PageUp: () => move(at - page),
    Home: () => move(0),
    End: () => move(total - 1),
    Enter: () => open?.(at),
  };
  const onKeyDown = (e) => {
    if (!moves[e.key] || e.ctrlKey || e.metaKey || e.altKey) return;
    if (e.key === 'Enter' && e.target.tagName === 'A') return;
    e.preventDefault();
    moves[e.key]();
  };
  const onFocus = (e) => {
    const el = e.target.closest('[data-row]');
    if (el) setActive(Number(el.dataset.row));
  };
  useEffect(() => {
    const onEnterList = () => move(at);
    addEventListener('enter-list', onEnterList);
    return () => removeEventListener('enter-list', onEnterList);
  });

  const indexes = [];
  for (let i = view[0]; i < Math.min(view[1], total); i++) indexes.push(i);
  if (total > 0 && (at < view[0] || at >= view[1])) indexes.push(at); // so that it keeps the focus
  return html`<div class="grid" role="grid" aria-label=${label} aria-rowcount=${total + 1} aria-colcount=${columns}
    onKeyDown=${onKeyDown} onFocusIn=${onFocus}>
    <div class="grid-head" role="row" aria-rowindex="1">${head}</div>
    <div class="grid-body" role="rowgroup" ref=${ref} style=${{ height: `${total * height}px` }}>
      ${indexes.map(
        (i) => html`<div
          key=${i}
          class="grid-row"
          role="row"
          aria-rowindex=${i + 2}
          data-row=${i}
          tabindex=${i === at ? 0 : -1}
          style=${{ transform: `translateY(${i * height}px)`, height: `${height}px` }}
        >${row(i)}</div>`,
      )}
    </div>
  </div>`;
}
