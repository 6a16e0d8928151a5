// A token signed without being seen: RFC 9474, RSABSSA-SHA384-PSSZERO-Deterministic. The page of an invited survey blinds
// its token, has it signed for the invitation, and unblinds. docs/proofs/survey.md says why nobody can link the two.
import { below } from "./randomise.js";

const HASH = 48;
const text = new TextEncoder();
const sha = async (bytes) => new Uint8Array(await crypto.subtle.digest("SHA-384", bytes));
const number = (bytes) => BigInt("0x" + [...bytes].map((byte) => byte.toString(16).padStart(2, "0")).join(""));
const hex = (value, modulus) => value.toString(16).padStart(modulus.toString(2).length / 4, "0");

function power(base, exponent, modulus) {
  let result = 1n;
  for (let b = base % modulus, e = exponent; e; e >>= 1n, b = b * b % modulus) if (e & 1n) result = result * b % modulus;
  return result;
}

// The inverse of a number, or null if it has none.
function inverse(value, modulus) {
  let [a, b, x, y] = [value % modulus, modulus, 1n, 0n];
  while (b) {
    const quotient = a / b;
    [a, b, x, y] = [b, a - quotient * b, y, x - quotient * y];
  }
  return a === 1n ? (x % modulus + modulus) % modulus : null;
}

// The message as a number: EMSA-PSS with SHA-384 and no salt.
async function encode(message, bits) {
  const length = Math.ceil((bits - 1) / 8);
  const hashed = await sha(new Uint8Array([...new Uint8Array(8), ...await sha(message)]));
  const block = new Uint8Array(length - HASH - 1);
  block[block.length - 1] = 1;
  for (let i = 0; i * HASH < block.length; i++) {
    const mask = await sha(new Uint8Array([...hashed, 0, 0, i >> 8, i & 255]));
    for (let j = 0; j < HASH && i * HASH + j < block.length; j++) block[i * HASH + j] ^= mask[j];
  }
  block[0] &= 255 >> (8 * length - bits + 1);
  return number([...block, ...hashed, 0xbc]);
}

// The token blinded, and how to unblind: kept on this device. Null if the token has a factor in common with the modulus,
// which blinding would not hide: an honest key has two large factors, another one may have been made for that.
export async function blind(key, digest, token) {
  const modulus = BigInt(key.modulus);
  const message = await encode(text.encode(`discreet survey ${digest} ${token}`), modulus.toString(2).length);
  if (inverse(message, modulus) === null) return null;
  for (;;) {
    const unit = below(modulus);
    const back = inverse(unit, modulus);
    if (back === null) continue;
    const blinded = message * power(unit, BigInt(key.exponent), modulus) % modulus;
    return { blinded: hex(blinded, modulus), back: back.toString(), message: message.toString() };
  }
}

// The signature of the token itself, or null if the server did not sign what it was sent.
export function unblind(key, made, signed) {
  if (!/^[0-9a-f]+$/.test(signed)) return null;
  const modulus = BigInt(key.modulus);
  const signature = BigInt("0x" + signed) * BigInt(made.back) % modulus;
  return power(signature, BigInt(key.exponent), modulus) === BigInt(made.message) ? hex(signature, modulus) : null;
}
