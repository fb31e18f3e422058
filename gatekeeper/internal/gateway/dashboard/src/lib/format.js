// Numbers, times and durations, as gkctl prints them.
import { now } from './api.js';

export const count = (n) => Number(n ?? 0).toLocaleString('en');

export const plural = (n, one, many) => `${count(n)} ${Number(n) === 1 ? one : many}`;

// ms parses a duration in protobuf's JSON, such as "1.500s".
export const ms = (d) => (d ? Math.round(parseFloat(d) * 1000) : 0);

// duration formats milliseconds as 1h30m.
export function duration(n) {
  if (!n) return '0s';
  if (n < 0) return `-${duration(-n)}`;
  let out = '';
  for (const [unit, size] of [['h', 3_600_000], ['m', 60_000]]) {
    const whole = Math.floor(n / size);
    if (whole) out += whole + unit;
    n -= whole * size;
  }
  if (n >= 1000 || (n && out)) out += `${+(n / 1000).toFixed(3)}s`;
  else if (n) out += `${+n.toFixed(3)}ms`;
  return out;
}

// brief formats milliseconds with limited precision.
export function brief(n) {
  if (n < 0) return '0s';
  if (n < 10_000) return duration(Math.round(n / 100) * 100);
  if (n < 3_600_000) return duration(Math.round(n / 1000) * 1000);
  if (n < 48 * 3_600_000) return duration(Math.round(n / 60_000) * 60_000);
  return `${Math.floor(n / 86_400_000)}d`;
}

// counting formats a running duration in whole seconds, so that its width changes rarely.
export const counting = (n) => brief(Math.max(0, Math.round(n / 1000)) * 1000);

const units = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 };

// seconds converts a duration typed by a user, such as 1h30m, to protobuf's JSON. '' becomes undefined. The message of
// its Error is meant for users.
export function seconds(text) {
  text = text.trim();
  if (text === '') return undefined;
  if (text === '0') return '0s';
  let total = 0;
  const rest = text.replace(/(\d+(?:\.\d+)?)(ms|s|m|h|d)/g, (_, n, unit) => {
    total += parseFloat(n) * units[unit];
    return '';
  });
  if (rest !== '') throw new Error(`“${text}” is not a duration. Write it as 90s, 5m, 1h30m or 2d.`);
  return `${+(total / 1000).toFixed(3)}s`;
}

// typed formats a duration as a user would type it; '' if absent.
export const typed = (d) => (d === undefined || d === null ? '' : duration(ms(d)));

export const ago = (at) => (at ? brief(now() - Date.parse(at)) : '');

export const capital = (text) => text.charAt(0).toUpperCase() + text.slice(1);

export const sentence = (text = '') => {
  const s = capital(text);
  return /[.!?…]$/.test(s) ? s : `${s}.`;
};

const pad = (n) => String(n).padStart(2, '0');

// when formats a local date and time.
export function when(at) {
  if (!at) return '';
  const t = new Date(at);
  const day = `${t.getFullYear()}-${pad(t.getMonth() + 1)}-${pad(t.getDate())}`;
  return `${day} ${clock(t)}`;
}

export const clock = (t) => `${pad(t.getHours())}:${pad(t.getMinutes())}:${pad(t.getSeconds())}`;

// soon is like when, but omits the date if it is today.
export function soon(at) {
  if (!at) return '';
  const t = new Date(at);
  return t.toDateString() === new Date(now()).toDateString() ? clock(t) : when(at);
}

export function bytes(n) {
  n = Number(n ?? 0);
  if (n < 1024) return `${n} B`;
  let unit = -1;
  do {
    n /= 1024;
    unit++;
  } while (n >= 1024 && unit < 3);
  return `${n < 10 ? n.toFixed(1) : Math.round(n)} ${['KiB', 'MiB', 'GiB', 'TiB'][unit]}`;
}

// quoted quotes text for a shell if necessary.
export const quoted = (s) => (/^[\w\-./:@%+=,]+$/.test(s) ? s : `'${s.replaceAll("'", `'\\''`)}'`);

export function some(names, shown = 3) {
  const more = names.length - shown;
  return names.slice(0, shown).join(', ') + (more > 0 ? ` and ${count(more)} more` : '');
}

// payload decodes protobuf's JSON of bytes (base64) to text if it is UTF-8, and otherwise to hexadecimal.
export function payload(base64) {
  if (!base64) return '';
  const raw = Uint8Array.from(atob(base64), (c) => c.charCodeAt(0));
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(raw);
  } catch {
    return Array.from(raw, (b) => b.toString(16).padStart(2, '0')).join(' ');
  }
}
