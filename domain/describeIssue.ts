/**
 * Describes what is wrong with a part of a request. The library would name types and regular expressions of ours; the
 * texts of a schema itself (`message`, `expected`) are kept.
 */
import { SchemaAST, type SchemaIssue } from "effect"

const annotated = (annotations: SchemaAST.AST["annotations"] | undefined, key: string): string | undefined => {
  const value = (annotations as Readonly<Record<string, unknown>> | undefined)?.[key]
  return typeof value === "string" ? value : undefined
}

const list = (words: ReadonlyArray<string>): string => {
  const all = [...new Set(words)]
  return all.length < 2 ? all.join() : `${all.slice(0, -1).join(", ")} or ${all.at(-1)}`
}

/** A kind of value, as people call it. */
const wordsOf = (ast: SchemaAST.AST): string => {
  const expected = annotated(ast.annotations, "expected")
  if (expected !== undefined) return expected
  switch (ast._tag) {
    case "String":
      return "text"
    case "Number":
      return ast.checks === undefined ? "a number" : "a whole number"
    case "Boolean":
      return "true or false"
    case "Null":
      return "null"
    case "Undefined":
      return "nothing"
    case "Literal":
      return JSON.stringify(ast.literal)
    case "Arrays":
      return "a list"
    case "Objects":
      return "an object"
    case "Union":
      return list(ast.types.map(wordsOf))
    default:
      return "another kind of value"
  }
}

/** The first example that a schema gives of itself. */
const exampleOf = (annotations: SchemaAST.AST["annotations"] | undefined): unknown => {
  const examples = (annotations as Readonly<Record<string, unknown>> | undefined)?.["examples"]
  return Array.isArray(examples) ? examples[0] : undefined
}

/** The reason with an example of a text or number, unless it shows one already. `write` puts it as it is sent. */
const withExample = (reason: string, example: unknown, write: (example: unknown) => string): string => {
  if (typeof example !== "string" && typeof example !== "number") return reason
  if (example === "" || reason.includes(String(example)) || reason.includes("such as")) return reason
  return `${reason}, such as ${write(example)}`
}

/** The names of an object's fields. */
const fieldsOf = (ast: SchemaAST.AST): ReadonlyArray<string> =>
  ast._tag === "Objects" ? ast.propertySignatures.map(({ name }) => String(name)) : []

const isText = (text: string | undefined): text is string => text !== undefined

/** The text that a check expects; of a pattern without one, no more than that there is a form. */
const expectedBy = (annotations: SchemaAST.AST["annotations"] | undefined): string | undefined => {
  const expected = annotated(annotations, "expected")
  return expected?.includes("RegExp") === true ? "the documented form" : expected
}

const reasonOf = (issue: SchemaIssue.Issue): string => {
  switch (issue._tag) {
    case "InvalidType":
    case "AnyOf": {
      const annotations = SchemaAST.resolve(issue.ast)
      const message = annotated(annotations, "message")
      // In quotes, so that a number sent in the place of a text sees the difference.
      return message ?? withExample(`Expected ${wordsOf(issue.ast)}`, exampleOf(annotations), JSON.stringify)
    }
    case "MissingKey":
      return "is required"
    case "UnexpectedKey": {
      const fields = fieldsOf(issue.ast)
      return fields.length === 0
        ? "is not a field here; leave it out"
        : `is not a field here; the fields are ${fields.join(", ")}`
    }
    case "InvalidValue": {
      const { annotations } = issue
      const reason = annotated(annotations, "message") ?? `Expected ${expectedBy(annotations) ?? "another value"}`
      return withExample(reason, exampleOf(annotations), String)
    }
    default:
      return "Expected another value"
  }
}

/** A check's own text; undefined when an issue inside is more precise. */
const checkReason = ({ filter, issue }: SchemaIssue.Filter): string | undefined => {
  const message = [filter.annotations, "annotations" in issue ? issue.annotations : undefined]
    .map((annotations) => annotated(annotations, "message"))
    .find(isText)
  if (message !== undefined || issue._tag !== "InvalidValue") return message
  const expected = [issue.annotations, filter.annotations].map(expectedBy).find(isText)
  return expected === undefined ? undefined : withExample(`Expected ${expected}`, exampleOf(filter.annotations), String)
}

export interface Problem {
  readonly path: ReadonlyArray<PropertyKey>
  readonly reason: string
}

/** Where and what. `reason` is the text of an enclosing check. */
export const describeIssue = (
  issue: SchemaIssue.Issue,
  path: ReadonlyArray<PropertyKey> = [],
  reason?: string
): ReadonlyArray<Problem> => {
  switch (issue._tag) {
    case "Filter":
      return describeIssue(issue.issue, path, reason ?? checkReason(issue))
    case "Encoding":
      return describeIssue(issue.issue, path, reason)
    case "Pointer":
      return describeIssue(issue.issue, [...path, ...issue.path], reason)
    case "Composite":
      return issue.issues.flatMap((one) => describeIssue(one, path, reason))
    case "AnyOf": {
      const isOne = issue.issues.length === 0 || annotated(SchemaAST.resolve(issue.ast), "message") !== undefined
      if (!isOne) return issue.issues.flatMap((one) => describeIssue(one, path, reason))
      return [{ path, reason: reason ?? reasonOf(issue) }]
    }
    default:
      return [{ path, reason: reason ?? reasonOf(issue) }]
  }
}

/** Most problems that one answer lists. */
const maxDetails = 50
/** Most characters of one problem; a longer one is cut, since it may quote the request. */
const maxDetailLength = 300

/** Each problem once, as `field.path: reason`; `root` stands for the whole of what was sent. */
export const detailsOf = (issue: SchemaIssue.Issue, root: string): ReadonlyArray<string> => {
  const lines = describeIssue(issue).map(({ path, reason }) => {
    const line = `${path.map(String).join(".") || root}: ${reason}`
    return line.length > maxDetailLength ? `${line.slice(0, maxDetailLength)}...` : line
  })
  return [...new Set(lines)].slice(0, maxDetails)
}
