/** The part of a workflow's input that names the application, where there are several; else none, as it always was. */
export function namedInput({
  application,
  isOneOfSeveral = false,
}: {
  readonly application: string;
  readonly isOneOfSeveral?: boolean;
}): { readonly application?: string } {
  return isOneOfSeveral ? { application } : {};
}
