// Numbers as people type them, digit by digit: no float between the key and the grid.

// The place on the grid of a decimal number, or null if it is not on the grid.
export function point(text, number) {
  const found = /^\s*([+-]?)(\d{1,30})(?:[.,](\d{0,30}))?\s*$/.exec(text.replace("\u2212", "-"));
  if (!found) return null;
  const [, sign, whole, after = ""] = found;
  const scale = 10n ** BigInt(after.length);
  const value = BigInt(whole + after) * (sign === "-" ? -1n : 1n); // over scale
  const [low, lowBy] = number.low.map(BigInt);
  const [step, stepBy] = number.by.map(BigInt);
  // (value/scale - low/lowBy) / (step/stepBy)
  const top = (value * lowBy - low * scale) * stepBy;
  const bottom = scale * lowBy * step;
  if (top < 0n || top % bottom !== 0n || top / bottom >= BigInt(number.points)) return null;
  return Number(top / bottom);
}
