// Buttons that explain why they are disabled; dialogs, fields and tabs.
import { useEffect, useId, useLayoutEffect, useRef } from 'preact/hooks';
import { html } from '../lib/html.js';
import { useQuery } from '../lib/router.js';
import { useCan } from '../lib/session.js';

// Action is a button that needs a role. Without the role, the button stays focusable and explains who can use it.
export function Action({ role, semaphore, group, acquirer, why, kind = '', children, onClick,
  type = 'button', ...rest }) {
  const forbidden = useCan(role, semaphore, group, acquirer);
  const id = useId();
  const reason = forbidden || why;
  return html`<span class="action">
    <button
      type=${reason ? 'button' : type}
      class=${kind}
      aria-disabled=${reason ? 'true' : undefined}
      aria-describedby=${reason ? id : undefined}
      onClick=${reason ? undefined : onClick}
      ...${rest}
    >${children}</button>
    ${reason && html`<span class="why" role="tooltip" id=${id}>${reason}</span>`}
  </span>`;
}

// Dialog is a modal dialog. The browser keeps the focus inside; Escape closes it and restores the focus. A persistent
// dialog has input that must not be lost, so clicking outside does not close it.
export function Dialog({ title, onClose, wide, persistent, children }) {
  const ref = useRef(null);
  const id = useId();
  useLayoutEffect(() => {
    const previousFocus = document.activeElement;
    const dialog = ref.current;
    dialog.showModal();
    return () => {
      dialog.close();
      if (previousFocus?.isConnected) previousFocus.focus();
    };
  }, []);
  return html`<dialog
    ref=${ref}
    class=${wide ? 'wide' : ''}
    aria-labelledby=${id}
    onCancel=${(e) => (e.preventDefault(), onClose())}
    onMouseDown=${(e) => !persistent && e.target === ref.current && onClose()}
  >
    <div class="dialog-body">
      <header class="dialog-head">
        <h2 id=${id}>${title}</h2>
        <button type="button" class="plain" aria-label="Close" onClick=${onClose}>×</button>
      </header>
      ${children}
    </div>
  </dialog>`;
}

// Field is a labelled input with help and an error.
export function Field({ label, help, error, children, class: name = '' }) {
  const id = useId();
  const describedBy = [help && `${id}-help`, error && `${id}-error`].filter(Boolean).join(' ') || undefined;
  return html`<div class="field ${name}">
    <label for=${id}>${label}</label>
    ${children({ id, 'aria-describedby': describedBy, 'aria-invalid': error ? 'true' : undefined })}
    ${help && html`<p class="help" id="${id}-help">${help}</p>`}
    ${error && html`<p class="error" id="${id}-error" role="alert">${error}</p>`}
  </div>`;
}

export function Text({ label, help, error, value, onInput, area, class: name, ...rest }) {
  return html`<${Field} label=${label} help=${help} error=${error} class=${name}>
    ${(attributes) =>
      area
        ? html`<textarea rows=${area} value=${value} onInput=${(e) => onInput(e.target.value)} ...${attributes}
          ...${rest}></textarea>`
        : html`<input value=${value} onInput=${(e) => onInput(e.target.value)} autocomplete="off" spellcheck=${false}
          ...${attributes} ...${rest} />`}
  <//>`;
}

export function Select({ label, help, error, value, options, onChange, class: name }) {
  return html`<${Field} label=${label} help=${help} error=${error} class=${name}>
    ${(attributes) => html`<select value=${value} onChange=${(e) => onChange(e.target.value)} ...${attributes}>
      ${options.map(([v, text]) => html`<option value=${v} selected=${v === value}>${text}</option>`)}
    </select>`}
  <//>`;
}

export function Check({ label, help, checked, onChange }) {
  const id = useId();
  return html`<div class="check">
    <input type="checkbox" id=${id} checked=${checked} aria-describedby=${help ? `${id}-help` : undefined}
      onChange=${(e) => onChange(e.target.checked)} />
    <label for=${id}>${label}</label>
    ${help && html`<span class="help" id="${id}-help">${help}</span>`}
  </div>`;
}

// Tabs are links to the parts of a view, so that each part can be shared. query is the query string key that selects
// the part.
export function Tabs({ tabs, query = 'tab', label }) {
  const [params] = useQuery();
  const current = params.get(query) ?? tabs[0][0];
  const linkTo = (name) => {
    const next = new URLSearchParams(params);
    if (name === tabs[0][0]) next.delete(query);
    else next.set(query, name);
    const text = next.toString();
    return location.pathname + (text ? `?${text}` : '');
  };
  return html`<nav class="tabs" aria-label=${label}>
    ${tabs.map(([name, text]) =>
      html`<a href=${linkTo(name)} aria-current=${name === current ? 'page' : undefined}>${text}</a>`)}
  </nav>`;
}

// useKeys handles keyboard shortcuts, unless the user is typing or a dialog is open.
export function useKeys(keys) {
  const latest = useRef(keys);
  latest.current = keys;
  useEffect(() => {
    const onKeyDown = (e) => {
      if (e.defaultPrevented || e.ctrlKey || e.metaKey || e.altKey || document.querySelector('dialog[open]')) return;
      const typing = /^(INPUT|TEXTAREA|SELECT)$/.test(e.target.tagName);
      if (typing && e.key !== 'Escape') return;
      latest.current[e.key]?.(e, typing);
    };
    addEventListener('keydown', onKeyDown);
    return () => removeEventListener('keydown', onKeyDown);
  }, []);
}
