/** Resolves at the first Ctrl-C or SIGTERM; the second one leaves at once. */
export function untilSignal(): Promise<void> {
  return new Promise((resolve) => {
    let asked = false;
    const onSignal = (): void => {
      if (asked) process.exit(130);
      asked = true;
      resolve();
    };
    process.on('SIGINT', onSignal);
    process.on('SIGTERM', onSignal);
  });
}
