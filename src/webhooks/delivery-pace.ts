/** Deliveries of one burst arrive within a few milliseconds. */
const PROMPT_MS = 3;
/** How long a delivery may wait for company where it gains something. Senders wait for seconds before they come again. */
const PATIENT_MS = 300;
/** A group that has waited long enough is stored with so many: more company saves little more. */
const COMPANY = 16;

/** The rate is measured over so long, before and while deliveries wait. */
const MEASURED_MS = 2_000;
const JUDGED_MS = 4_000;
/** Nobody waited for an answer meanwhile: what did not come then tells nothing. */
const PAUSE_MS = 1_000;
/** Deliveries a second: fewer bring no company, and more come in groups by themselves. */
const FEWEST = 8;
const MOST = 200;
/** Of the rate before: a sender that now brings less than this waits for the answers itself. */
const KEPT_SHARE = 0.7;
/** Where so many would have come and none did, the sender sends one at a time. */
const SURELY_COMPANY = 4;
/** Deliveries wait again after so long: nobody else may have had anything to send. */
const AFTER_ALONE_MS = 10_000;
/** The same after a rate that fell, which takes longer to notice. */
const AFTER_FALL_MS = 30_000;

/** How long a delivery waits for others: the time in milliseconds, and the count that ends it earlier. */
export interface DeliveryWait {
  readonly ms: number;
  readonly count: number;
}

/** Says how long the first delivery of a group waits for company before all of them are stored in one statement. */
export interface DeliveryPace {
  /** A delivery came. */
  came(): void;
  /** A group begins. */
  wait(): DeliveryWait;
  /** The group that began last is stored now, with so many deliveries. */
  gathered(deliveries: number): void;
}

const PROMPT: DeliveryWait = { ms: PROMPT_MS, count: Infinity };
const PATIENT: DeliveryWait = { ms: PATIENT_MS, count: COMPANY };

/**
 * A service that takes few requests a second sends its deliveries one by one, and each costs a statement. So deliveries wait for each other as long as
 * their sender brings as many as before. A sender that waits for each answer would bring fewer: then they do not wait for a while.
 * `clock` gives milliseconds that never go back.
 */
export function createDeliveryPace(clock: () => number = () => performance.now()): DeliveryPace {
  let since = clock();
  let came = 0;
  /** Deliveries a second before they waited; null: they do not wait. */
  let before: number | null = null;
  let promptUntil = -Infinity;
  let gatheredAt = since;

  function measureAgain(now: number): void {
    since = now;
    came = 0;
  }

  function beginToWait(now: number): void {
    if (now - since < MEASURED_MS) return;
    const rate = (came * 1_000) / (now - since);
    if (rate >= FEWEST && rate <= MOST && now >= promptUntil) before = rate;
    measureAgain(now);
  }

  function stopWaiting(now: number, forMs: number): void {
    before = null;
    promptUntil = now + forMs;
    measureAgain(now);
  }

  function judge(now: number, rateBefore: number): void {
    if (now - since < JUDGED_MS) return;
    const rate = (came * 1_000) / (now - since);
    if (rate < rateBefore * KEPT_SHARE) stopWaiting(now, AFTER_FALL_MS);
    else measureAgain(now);
  }

  return {
    came: () => void (came += 1),
    wait() {
      const now = clock();
      if (before === null) beginToWait(now);
      else if (now - gatheredAt > PAUSE_MS) measureAgain(now);
      else judge(now, before);
      return before === null ? PROMPT : PATIENT;
    },
    gathered(deliveries) {
      gatheredAt = clock();
      if (before === null || deliveries > 1) return;
      if ((before * PATIENT_MS) / 1_000 >= SURELY_COMPANY) stopWaiting(gatheredAt, AFTER_ALONE_MS);
    },
  };
}
