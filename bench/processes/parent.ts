/** The document that the bench gave this process. */
export function givenInput<Input>(): Input {
  return JSON.parse(process.argv[2] ?? 'null') as Input;
}

/** One line of JSON to the bench. */
export function notify(message: unknown): void {
  process.stdout.write(`${JSON.stringify(message)}\n`);
}

/** Resolves when the bench has let go of this process, or is gone. */
export async function untilLetGo(): Promise<void> {
  process.stdin.resume();
  await new Promise((resolve) => process.stdin.once('end', resolve));
}
