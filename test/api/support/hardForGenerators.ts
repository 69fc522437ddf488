/** What of a document generators of code stumble over, each with its path. */
export const hardForGenerators = (value: unknown, at = ""): ReadonlyArray<string> => {
  if (typeof value !== "object" || value === null) return []
  const schema = value as Readonly<Record<string, any>>
  const typeless = (part: any) => part.type === undefined && part.$ref === undefined && part.anyOf === undefined
  return [
    ...(schema["type"] === "array" && typeof schema["items"] !== "object" ? [`${at}: a list without items`] : []),
    ...(Array.isArray(schema["allOf"]) && schema["allOf"].some(typeless) ? [`${at}: a part without a type`] : []),
    ...("prefixItems" in schema ? [`${at}: a tuple`] : []),
    ...(typeof schema["pattern"] === "string" && /(?:^|[^\\])(?:\\\\)*\\\//u.test(schema["pattern"])
      ? [`${at}: a slash with an escape`]
      : []),
    ...Object.entries(schema).flatMap(([key, part]) =>
      key === "example" || key === "examples" ? [] : hardForGenerators(part, `${at}/${key}`)
    )
  ]
}
