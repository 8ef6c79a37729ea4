const UNITS = [
  { unit: 'hour', ms: 3_600_000 },
  { unit: 'minute', ms: 60_000 },
  { unit: 'second', ms: 1_000 },
] as const;
/** From here on, the larger unit alone says enough. */
const ENOUGH = 10;

/** A duration in the reader's words, as exact as a person asks: "2 hours 5 minutes", "45 minutes", "0.3 seconds". */
export function durationText(ms: number, language: string): string {
  const at = UNITS.findIndex((one) => ms >= one.ms);
  const { unit, ms: size } = UNITS[at === -1 ? 2 : at] ?? UNITS[2];
  const smaller = UNITS[at + 1];
  if (at === -1 || smaller === undefined) return worded(Math.round(ms / 100) / 10, unit, language);
  const whole = Math.floor(ms / size);
  const rest = Math.round((ms - whole * size) / smaller.ms);
  if (whole >= ENOUGH || rest === 0) return worded(Math.round(ms / size), unit, language);
  return rest * smaller.ms === size
    ? worded(whole + 1, unit, language)
    : `${worded(whole, unit, language)} ${worded(rest, smaller.unit, language)}`;
}

function worded(value: number, unit: string, language: string): string {
  return new Intl.NumberFormat(language, { style: 'unit', unit, unitDisplay: 'long', maximumFractionDigits: 1 }).format(
    value,
  );
}
