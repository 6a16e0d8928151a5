// What this device remembers of a survey: a token, the randomised answers and whether they were sent.
// Never the true answers. Written once: whoever asks again gets the very same report.
// Of a survey of several rounds also what stands for each possible answer for good, whichever was given.

const HEX = "0123456789abcdef";

// 128 random bits in hexadecimal. Nobody can tell from it whose it is, and no two are alike.
function token() {
  let text = "";
  for (const byte of crypto.getRandomValues(new Uint8Array(16))) text += HEX[byte >> 4] + HEX[byte & 15];
  return text;
}

// The browser's database of reports, or null where it has none.
function database() {
  const opened = new Promise((resolve) => {
    const opening = indexedDB.open("discreet.survey", 1);
    opening.onupgradeneeded = () => opening.result.createObjectStore("reports");
    opening.onsuccess = () => resolve(opening.result);
    opening.onerror = (event) => {
      event.preventDefault();
      resolve(null);
    };
  });
  return opened.catch(() => null);
}

// The report under a key: the one that is there, or else the one made now. Tabs may be processes of their own, and what
// one writes to localStorage another may read too late; transactions of a database come one after the other.
async function claim(key, make) {
  const reports = await database();
  if (!reports) return make(); // the lock around this has to do
  return new Promise((resolve, reject) => {
    const transaction = reports.transaction("reports", "readwrite");
    const store = transaction.objectStore("reports");
    const before = store.get(key);
    let report, problem;
    before.onsuccess = () => {
      try {
        report = before.result ?? make();
        store.put(report, key);
      } catch (thrown) {
        problem = thrown;
        transaction.abort();
      }
    };
    transaction.oncomplete = () => resolve(report);
    transaction.onabort = () => reject(problem ?? transaction.error);
  }).finally(() => reports.close());
}

export class Memory {
  constructor(digest) {
    this.key = "discreet.survey." + digest;
    this.kept = null; // where the browser keeps nothing, this page still does
    this.lasting = true;
    try {
      localStorage.setItem(this.key + ".probe", "1");
      localStorage.removeItem(this.key + ".probe");
    } catch {
      this.lasting = false;
    }
  }

  // The report and its state, or null if nothing has been randomised yet.
  read() {
    if (!this.lasting) return this.kept;
    try {
      const found = JSON.parse(localStorage.getItem(this.key));
      return found && typeof found.token === "string" && Array.isArray(found.answers) ? found : null;
    } catch {
      return null;
    }
  }

  // A state is "waiting": to be sent as soon as the server is reached; "sent"; or "refused". Pages of version 0.1 also
  // left "made": randomised and shown, but its owner had not agreed to send it.
  write(state) {
    this.kept = state;
    if (this.lasting) localStorage.setItem(this.key, JSON.stringify(state));
  }

  // What is drawn once for all rounds of a series: what is there, or else what is drawn now.
  async forGood(series, draw) {
    const key = "discreet.survey." + series + ".permanent";
    const find = async () => {
      const there = this.lasting ? localStorage.getItem(key) : null;
      if (there !== null) return JSON.parse(there);
      const drawn = await claim(key, draw);
      if (this.lasting) localStorage.setItem(key, JSON.stringify(drawn));
      return drawn;
    };
    return navigator.locks ? navigator.locks.request(key, find) : find();
  }

  // Randomise at most once, even if two tabs ask at the same moment: the later one gets what the first one made.
  async once(answers) {
    const make = async () => {
      if (this.read()) return;
      const report = await claim(this.key, () => ({ token: token(), answers: answers() }));
      if (!this.read()) this.write({ ...report, state: "waiting" });
    };
    await (navigator.locks ? navigator.locks.request(this.key, make) : make());
  }
}
