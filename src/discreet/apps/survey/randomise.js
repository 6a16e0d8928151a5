// Chance for answers, exactly. The only source is crypto.getRandomValues, the only numbers are whole.
// docs/proofs/survey.md proves what is claimed here; tests draw from these very functions in a browser.

// A whole number from 0 to bound - 1, each equally likely: draw just enough bits, and again if they are too many.
export function below(bound) {
  if (bound < 1n) throw new RangeError("a bound of at least 1");
  const bits = (bound - 1n).toString(2).length;
  const mask = (1n << BigInt(bits)) - 1n;
  const bytes = new Uint8Array(Math.ceil(bits / 8));
  for (;;) {
    crypto.getRandomValues(bytes);
    let value = 0n;
    for (const byte of bytes) value = value << 8n | BigInt(byte);
    value &= mask;
    if (value < bound) return value;
  }
}

// True with probability share/total, exactly.
function happens(share, total) {
  return below(BigInt(total)) < BigInt(share);
}

// `size` different numbers out of 0..count-1 without `own`: every set of them is equally likely.
function others(count, own, size) {
  const pool = [];
  for (let i = 0; i < count; i++) if (i !== own) pool.push(i);
  for (let i = 0; i < size; i++) {
    const j = i + Number(below(BigInt(pool.length - i)));
    [pool[i], pool[j]] = [pool[j], pool[i]];
  }
  return pool.slice(0, size);
}

// What is sent instead of the true answer, number `value` of the possible ones.
// The laws are written by law.py; their numbers are whole numbers in strings, since they can be long.
export function randomise(law, value) {
  if (!Number.isInteger(value) || value < 0 || value >= law.values) throw new RangeError("no such answer");
  switch (law.law) {
    case "choice": { // the truth with probability own/total, else any other answer
      if (happens(law.own, law.total)) return value;
      const other = Number(below(BigInt(law.values - 1)));
      return other < value ? other : other + 1;
    }
    case "bits": { // a mark for each answer: with probability own/total at the true one, other/total elsewhere
      let marks = "";
      for (let i = 0; i < law.values; i++) marks += happens(i === value ? law.own : law.other, law.total) ? "1" : "0";
      return marks;
    }
    case "subset": { // `size` marked answers: the true one among them with probability own/total
      const kept = happens(law.own, law.total);
      const marks = new Array(law.values).fill("0");
      for (const i of others(law.values, value, kept ? law.size - 1 : law.size)) marks[i] = "1";
      if (kept) marks[value] = "1";
      return marks.join("");
    }
    case "near": { // one of `width` numbers from stride * value on with probability own/total, else any other below count
      const first = law.stride * value;
      if (happens(law.own, law.total)) return first + Number(below(BigInt(law.width)));
      const other = Number(below(BigInt(law.count - law.width)));
      return other < first ? other : other + law.width;
    }
    case "table": { // report r with probability rows[value][r]/total
      let left = below(BigInt(law.total));
      const row = law.rows[value];
      for (let i = 0; i < row.length; i++) {
        left -= BigInt(row[i]);
        if (left < 0n) return i;
      }
      throw new RangeError("the row does not add up");
    }
    default:
      throw new RangeError("no such law");
  }
}
