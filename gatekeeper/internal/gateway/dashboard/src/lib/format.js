// Formats numbers, times and durations as gkctl does.
import { now } from './api.js';

export const count = (n) => Number(n ?? 0).toLocaleString('en');

export const plural = (n, one, many) => `${count(n)} ${Number(n) === 1 ? one : many}`;

// ms parses a duration in protobuf JSON, such as "1.500s".
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

// wholeSeconds formats a running duration in whole seconds, so that its width rarely changes.
export const wholeSeconds = (n) => brief(Math.max(0, Math.round(n / 1000)) * 1000);

const units = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 };

// seconds converts a duration typed by a user, such as 1h30m, to protobuf JSON, and '' to undefined. Its error messages
// are shown to the user.
export function seconds(text) {
  text = text.trim();
  if (text === '') return undefined;
  if (text === '0') return '0s';
  let total = 0;
  const rest = text.replace(/(\d+(?:\.\d+)?)(ms|s|m|h|d)/g, (_, n, unit) => {
    total += parseFloat(n) * units[unit];
    return '';
  });
  if (rest !== '') throw new Error(`“${text}” is not a duration. Use a format such as 90s, 5m, 1h30m or 2d.`);
  return `${+(total / 1000).toFixed(3)}s`;
}

// durationInput formats a duration as a user would type it; '' if absent.
export const durationInput = (d) => (d === undefined || d === null ? '' : duration(ms(d)));

export const ago = (at) => (at ? brief(now() - Date.parse(at)) : '');

export const capitalize = (text) => text.charAt(0).toUpperCase() + text.slice(1);

export const sentence = (text = '') => {
  const s = capitalize(text);
  return /[.!?…]$/.test(s) ? s : `${s}.`;
};

const pad = (n) => String(n).padStart(2, '0');

// dateTime formats a local date and time.
export function dateTime(at) {
  if (!at) return '';
  const t = new Date(at);
  const day = `${t.getFullYear()}-${pad(t.getMonth() + 1)}-${pad(t.getDate())}`;
  return `${day} ${timeOfDay(t)}`;
}

export const timeOfDay = (t) => `${pad(t.getHours())}:${pad(t.getMinutes())}:${pad(t.getSeconds())}`;

// shortTime is like dateTime, but omits the date if it is today.
export function shortTime(at) {
  if (!at) return '';
  const t = new Date(at);
  return t.toDateString() === new Date(now()).toDateString() ? timeOfDay(t) : dateTime(at);
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

// quoted quotes text for a shell if needed.
export const quoted = (s) => (/^[\w\-./:@%+=,]+$/.test(s) ? s : `'${s.replaceAll("'", `'\\''`)}'`);

export function summarizeNames(names, shown = 3) {
  const more = names.length - shown;
  return names.slice(0, shown).join(', ') + (more > 0 ? ` and ${count(more)} more` : '');
}

// decodePayload decodes bytes in protobuf JSON (base64) to text if they are UTF-8, and to hexadecimal otherwise.
export function decodePayload(base64) {
  if (!base64) return '';
  const raw = Uint8Array.from(atob(base64), (c) => c.charCodeAt(0));
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(raw);
  } catch {
    return Array.from(raw, (b) => b.toString(16).padStart(2, '0')).join(' ');
  }
}
