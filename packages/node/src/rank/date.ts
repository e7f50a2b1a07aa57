/**
 * `Date` of a program: now is the job's clock (a determinant), the time zone is UTC, the locale en-US. Parsing and
 * arithmetic are the engine's; whatever would look at the local zone is turned to UTC.
 */
const DAYS = ['Sun', 'Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat'];
const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];
const two = (n: number): string => String(n).padStart(2, '0');
const year = (n: number): string => (n < 0 ? `-${String(-n).padStart(6, '0')}` : String(n).padStart(4, '0'));

const ISO_LOCAL = /^[+-]?\d{4,6}-\d\d-\d\dT\d\d:\d\d(?::\d\d(?:\.\d+)?)?$/;
const HAS_ZONE = /(?:Z|[+-]\d\d:?\d\d|\b(?:GMT|UTC|UT|[ECMP][SD]T))(?:\s*\(.*\))?\s*$/i;
const DATE_ONLY = /^[+-]?\d{4,6}(?:-\d\d(?:-\d\d)?)?$/;

/** @param now the job's clock in ms */
export function createDate(Engine: DateConstructor, now: () => number): DateConstructor {
  const parse = (s: string): number => {
    if (ISO_LOCAL.test(s)) return Engine.parse(`${s}Z`);
    if (DATE_ONLY.test(s) || HAS_ZONE.test(s)) return Engine.parse(s);
    return Engine.parse(`${s} UTC`);
  };

  function Date_(this: unknown, ...a: unknown[]): unknown {
    if (!new.target) return new (Date_ as unknown as DateConstructor)().toString();
    let value: unknown;
    if (a.length === 0) value = now();
    else if (a.length === 1) {
      const v =
        a[0] instanceof Engine
          ? a[0].getTime()
          : typeof a[0] === 'object' && a[0] !== null
            ? (a[0] as { valueOf(): unknown }).valueOf()
            : a[0];
      value = typeof v === 'string' ? parse(v) : v;
    } else value = Engine.UTC(...(a as [number, number]));
    return Reflect.construct(Engine, [value], new.target);
  }

  const P = Engine.prototype;
  const define = (o: object, name: string, value: unknown): void =>
    void Object.defineProperty(o, name, { value, writable: true, configurable: true, enumerable: false });
  const bag = P as unknown as Record<string, (...a: unknown[]) => unknown>;
  for (const part of ['Date', 'Day', 'FullYear', 'Hours', 'Milliseconds', 'Minutes', 'Month', 'Seconds']) {
    define(P, `get${part}`, bag[`getUTC${part}`]);
    if (part !== 'Day') define(P, `set${part}`, bag[`setUTC${part}`]);
  }
  define(P, 'getTimezoneOffset', function (this: Date) {
    return this.getTime() * 0;
  });
  const valid = (d: Date): boolean => !Number.isNaN(d.getTime());
  const dateText = (d: Date): string =>
    `${DAYS[d.getUTCDay()]} ${MONTHS[d.getUTCMonth()]} ${two(d.getUTCDate())} ${year(d.getUTCFullYear())}`;
  const clockText = (d: Date): string => `${two(d.getUTCHours())}:${two(d.getUTCMinutes())}:${two(d.getUTCSeconds())}`;
  const method = (name: string, make: (d: Date) => string): void => {
    define(
      P,
      name,
      {
        [name](this: Date): string {
          return valid(this) ? make(this) : 'Invalid Date';
        },
      }[name],
    );
  };
  const americanDate = (d: Date): string => `${d.getUTCMonth() + 1}/${d.getUTCDate()}/${d.getUTCFullYear()}`;
  const americanTime = (d: Date): string =>
    `${d.getUTCHours() % 12 || 12}:${two(d.getUTCMinutes())}:${two(d.getUTCSeconds())} ` +
    `${d.getUTCHours() < 12 ? 'AM' : 'PM'}`;
  method('toDateString', dateText);
  method('toTimeString', (d) => `${clockText(d)} GMT+0000 (Coordinated Universal Time)`);
  method('toString', (d) => `${dateText(d)} ${clockText(d)} GMT+0000 (Coordinated Universal Time)`);
  method('toLocaleDateString', americanDate);
  method('toLocaleTimeString', americanTime);
  method('toLocaleString', (d) => `${americanDate(d)}, ${americanTime(d)}`);

  define(Date_, 'name', 'Date');
  define(Date_, 'length', 7);
  define(Date_, 'now', () => now());
  define(Date_, 'parse', (s: unknown) => parse(String(s)));
  define(Date_, 'UTC', Engine.UTC);
  Object.defineProperty(Date_, 'prototype', { value: P, writable: false });
  define(P, 'constructor', Date_);
  return Date_ as unknown as DateConstructor;
}
