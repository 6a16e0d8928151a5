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

// What stands for each answer for good, in a survey of several rounds. It is drawn for all answers, without looking at
// the true one, so what a device stores does not say which one that is.
export function settle(law) {
  return Array.from({ length: law.values }, (_, value) => randomise(law, value));
}

// One round's report: what stands for the true answer, randomised again. It is new chance in every round.
export function again(law, settled, value) {
  if (settled.length !== law.values || !(value in settled)) throw new RangeError("no such answer");
  return randomise(law, settled[value]);
}

// Of a word, a list of the numbers of its letters: how many of the first ones count, each number equally likely; a key;
// and the bucket of these letters under it with probability own/total, else another.
function prefix(law, word) {
  const letter = (one) => Number.isInteger(one) && one >= 1 && one <= law.letters;
  if (!Array.isArray(word) || word.length < 1 || word.length > law.length || !word.every(letter)) {
    throw new RangeError("no such answer");
  }
  const level = 1 + Number(below(BigInt(law.length)));
  let code = 0n;
  for (let i = 0; i < law.length; i++) code = code << BigInt(law.bits) | BigInt(i < level ? word[i] ?? 0 : 0);
  const size = law.length * law.bits;
  const key = below(1n << BigInt(size * law.parities));
  let bucket = 0;
  for (let part = law.parities - 1; part >= 0; part--) { // a bit for each part of the key: an inner product modulo 2
    let odd = 0;
    for (let both = key >> BigInt(size * part) & code; both; both &= both - 1n) odd = 1 - odd;
    bucket = 2 * bucket + odd;
  }
  const buckets = 2 ** law.parities;
  if (!happens(law.own, law.total)) bucket += 1 + Number(below(BigInt(buckets - 1)));
  return `${level}:${key.toString(16)}:${bucket % buckets}`;
}

// What is sent instead of the true answer, number `value` of the possible ones.
// The laws are written by law.py; their numbers are whole numbers in strings, since they can be long.
export function randomise(law, value) {
  if (law.law === "parts") { // one part of the answer, each equally likely, by its own law
    if (value.length !== law.parts.length) throw new RangeError("no such answer");
    const part = Number(below(BigInt(law.parts.length)));
    return part + ":" + randomise(law.parts[part], value[part]);
  }
  if (law.law === "prefix") return prefix(law, value);
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
    case "hash": { // a key, each equally likely, and the answer's bucket under it with probability own/total, else another
      const size = law.buckets;
      let key = 0, scale = 1, bucket = 0, rest = value;
      for (let i = 0; i < law.digits; i++) {
        const digit = Number(below(BigInt(size)));
        bucket += digit * (rest % size);
        rest = (rest - rest % size) / size;
        key += digit * scale;
        scale *= size;
      }
      if (!happens(law.own, law.total)) bucket += 1 + Number(below(BigInt(size - 1)));
      return key * size + bucket % size;
    }
    case "rows": { // a place that belongs to the answer with probability own/total, else any other one
      const row = value % (law.length - 1) + 1;
      const first = (value - row + 1) / (law.length - 1) * law.length;
      const belongs = (place) => {
        if (place < first || place >= first + law.length) return false;
        let even = true;
        for (let both = (place - first) & row; both; both &= both - 1) even = !even;
        return even;
      };
      const wanted = happens(law.own, law.total);
      for (;;) {
        const place = Number(below(BigInt(law.blocks * law.length)));
        if (belongs(place) === wanted) return place;
      }
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
