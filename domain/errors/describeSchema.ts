/** What a part of a request may be, in words: kinds of values, names of fields and examples, as its schema has them. */
import { SchemaAST } from "effect"

type Annotations = SchemaAST.AST["annotations"]

/** A text that a schema or a check says of itself. */
export const annotated = (annotations: Annotations, key: string): string | undefined => {
  const value = (annotations as Readonly<Record<string, unknown>> | undefined)?.[key]
  return typeof value === "string" ? value : undefined
}

/** The first example that annotations have. */
export const annotatedExample = (annotations: Annotations): unknown => {
  const examples = (annotations as Readonly<Record<string, unknown>> | undefined)?.["examples"]
  return Array.isArray(examples) ? examples[0] : undefined
}

/** The words with "or" before the last one, each once. */
export const listed = (words: ReadonlyArray<string>): string => {
  const all = [...new Set(words)]
  return all.length < 2 ? all.join() : `${all.slice(0, -1).join(", ")} or ${all.at(-1)}`
}

/** The kind of value that is sent, as people call it. */
export const wordsOf = (schema: SchemaAST.AST): string => {
  const expected = annotated(schema.annotations, "expected")
  if (expected !== undefined) return expected
  const ast = SchemaAST.toEncoded(schema)
  switch (ast._tag) {
    case "String":
    case "TemplateLiteral":
      return "text"
    case "Number":
      return ast.checks === undefined ? "a number" : "a whole number"
    case "Boolean":
      return "true or false"
    case "Null":
      return "null"
    case "Undefined":
    case "Void":
      return "nothing"
    case "Literal":
      return JSON.stringify(ast.literal)
    case "Arrays":
      return "a list"
    case "Objects":
      return "an object"
    case "Union":
      return listed(ast.types.map(wordsOf))
    case "Suspend":
      return wordsOf(ast.thunk())
    default:
      return "the documented form"
  }
}

/** Annotations of a schema and of each of its checks, the last first, as those that were added last describe it. */
const annotationsOf = (ast: SchemaAST.AST): ReadonlyArray<Annotations> => [
  ...(ast.checks ?? []).map(({ annotations }) => annotations).toReversed(),
  ast.annotations
]

/** Null shows nothing of what else may be sent. */
const isExample = (example: unknown) => example !== undefined && example !== null

/** An example of what is sent: the schema's own, or that of a part that stands for the whole. */
export const exampleIn = (schema: SchemaAST.AST): unknown => {
  for (const ast of [schema, SchemaAST.toEncoded(schema)]) {
    const own = annotationsOf(ast).map(annotatedExample).find(isExample)
    if (own !== undefined) return own
    if (ast._tag === "Union") {
      const ofMember = ast.types.map(exampleIn).find(isExample)
      if (ofMember !== undefined) return ofMember
    }
  }
  return undefined
}

/** True of numbers, and of numbers that may be null. */
export const isNumeric = (schema: SchemaAST.AST): boolean => {
  const ast = SchemaAST.toEncoded(schema)
  return ast._tag === "Number" || (ast._tag === "Union" && ast.types.some(isNumeric))
}

/** The names of an object's fields. */
export const fieldsOf = (ast: SchemaAST.AST): ReadonlyArray<string> =>
  ast._tag === "Objects" ? ast.propertySignatures.map(({ name }) => String(name)) : []

/** The schema of what stands in a value under a key, where the value's schema says it. */
export const schemaUnder = (schema: SchemaAST.AST | undefined, key: PropertyKey): SchemaAST.AST | undefined => {
  if (schema === undefined) return undefined
  const ast = SchemaAST.toEncoded(schema)
  switch (ast._tag) {
    case "Objects":
      return ast.propertySignatures.find(({ name }) => name === key)?.type ?? ast.indexSignatures[0]?.type
    case "Arrays":
      return ast.elements[Number(key)] ?? ast.rest[0]
    case "Union":
      return ast.types.map((member) => schemaUnder(member, key)).find((part) => part !== undefined)
    default:
      return undefined
  }
}
