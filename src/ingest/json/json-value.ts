/** A number as its token stands in the file: never a float. */
export class JsonNumber {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

/** A JSON value with exact numbers. Objects inherit nothing: `__proto__` is a key like any other. */
export type JsonValue = string | boolean | null | JsonNumber | JsonValue[] | JsonObject;

/** A JSON object in the order of its members, which inherits nothing. */
export interface JsonObject {
  [key: string]: JsonValue;
}

/** Instances of a class are records to V8. Objects that are made without a prototype are hash tables, with which a file takes half as long again. */
class Bare {}
Object.setPrototypeOf(Bare.prototype, null);
Reflect.deleteProperty(Bare.prototype, 'constructor');

/** An empty object that inherits nothing. */
export function emptyObject(): JsonObject {
  return new Bare() as JsonObject;
}

/** True for an object, false for arrays, numbers, null and undefined. */
export function isObject(value: JsonValue | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof JsonNumber);
}

/** Compact JSON text with the numbers exactly as they were read. */
export function jsonText(value: JsonValue): string {
  if (value instanceof JsonNumber) return value.text;
  if (Array.isArray(value)) return `[${value.map(jsonText).join(',')}]`;
  if (isObject(value))
    return `{${Object.entries(value)
      .map(([key, member]) => `${JSON.stringify(key)}:${jsonText(member)}`)
      .join(',')}}`;
  return JSON.stringify(value);
}
