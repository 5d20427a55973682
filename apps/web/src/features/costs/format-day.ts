/** A calendar day in words; it is a day, not a moment, so that no time zone moves it. */
export function formatDay(day: string, language: string, length: 'short' | 'long' = 'long'): string {
  return new Intl.DateTimeFormat(language, {
    timeZone: 'UTC',
    day: 'numeric',
    month: 'short',
    ...(length === 'long' ? { year: 'numeric' } : {}),
  }).format(Date.parse(day));
}
