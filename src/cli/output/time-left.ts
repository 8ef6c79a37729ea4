/** `8s`, `3m 20s`, `2h 5m`: as exact as a guess deserves. */
export function timeLeft(seconds: number): string {
  const whole = Math.max(1, Math.round(seconds));
  if (whole < 60) return `${whole}s`;
  if (whole < 3_600) return `${Math.floor(whole / 60)}m ${whole % 60}s`;
  return `${Math.floor(whole / 3_600)}h ${Math.floor((whole % 3_600) / 60)}m`;
}
