/**
 * A short fingerprint of a text, equal on every machine. Not cryptographic: artifacts are addressed by SHA-256.
 *
 * Invariants:
 *   H1. Equal texts have equal hashes, on every machine and in every version of this file: hashes are carried.
 */

/** @returns 64 bits as 16 lower-case hex digits. */
export function hashText(text: string): string {
  let high = 0xdeadbeef;
  let low = 0x41c6ce57;
  for (let i = 0; i < text.length; i += 1) {
    const unit = text.charCodeAt(i);
    high = Math.imul(high ^ unit, 2_654_435_761);
    low = Math.imul(low ^ unit, 1_597_334_677);
  }
  const mixedHigh =
    Math.imul(high ^ (high >>> 16), 2_246_822_507) ^ Math.imul(low ^ (low >>> 13), 3_266_489_909);
  const mixedLow =
    Math.imul(low ^ (low >>> 16), 2_246_822_507) ^
    Math.imul(mixedHigh ^ (mixedHigh >>> 13), 3_266_489_909);
  return toHex(mixedHigh) + toHex(mixedLow);
}

function toHex(value: number): string {
  return (value >>> 0).toString(16).padStart(8, '0');
}
