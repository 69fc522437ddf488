/**
 * Which member of a union of objects was meant, by the fields that distinguish its members, such as `kind`. Problems
 * are those of that member; where no member was meant, the field that should have named it is the problem.
 */
import { SchemaAST, type SchemaIssue } from "effect"
import { listed } from "#domain/errors/describeSchema.ts"

export interface Problem {
  readonly path: ReadonlyArray<PropertyKey>
  readonly reason: string
}

type Fields = Readonly<Record<PropertyKey, unknown>>

const isFields = (value: unknown): value is Fields =>
  typeof value === "object" && value !== null && !Array.isArray(value)

/** The literals that a field may have; none where it may have other values too. */
const literalsOf = (ast: SchemaAST.AST): ReadonlyArray<SchemaAST.LiteralValue> => {
  if (ast._tag === "Literal") return [ast.literal]
  if (ast._tag !== "Union") return []
  const members = ast.types.map(literalsOf)
  return members.some((literals) => literals.length === 0) ? [] : members.flat()
}

/** A field by which members of a union differ. */
interface Discriminator {
  readonly name: PropertyKey
  /** What it may be, over all members. */
  readonly literals: ReadonlyArray<SchemaAST.LiteralValue>
  /** No member can do without it. */
  readonly isRequired: boolean
}

const discriminatorsOf = (union: SchemaAST.Union): ReadonlyArray<Discriminator> => {
  const members = union.types
    .map(SchemaAST.toEncoded)
    .filter((member): member is SchemaAST.Objects => member._tag === "Objects")
  const names = new Set(members.flatMap(({ propertySignatures }) => propertySignatures.map(({ name }) => name)))
  return [...names].flatMap((name) => {
    const fields = members.flatMap(({ propertySignatures }) => propertySignatures.filter((one) => one.name === name))
    const literals = fields.map(({ type }) => literalsOf(type))
    const isDistinguishing =
      fields.length > 1 && literals.every((own) => own.length > 0) && new Set(literals.map(String)).size > 1
    const isRequired = fields.length === union.types.length && fields.every(({ type }) => !SchemaAST.isOptional(type))
    return isDistinguishing ? [{ name, literals: literals.flat(), isRequired }] : []
  })
}

const isAllowed = ({ literals }: Discriminator, value: unknown) => literals.some((literal) => literal === value)

const allowed = ({ literals }: Discriminator) => listed(literals.map((literal) => JSON.stringify(literal)))

/** What is wrong with the fields that name a member: values that none has, or none where each needs one. */
const unnamed = (discriminators: ReadonlyArray<Discriminator>, sent: Fields): ReadonlyArray<Problem> =>
  discriminators.flatMap((field): ReadonlyArray<Problem> => {
    const value = sent[field.name]
    if (value !== undefined)
      return isAllowed(field, value) ? [] : [{ path: [field.name], reason: `Expected ${allowed(field)}` }]
    return field.isRequired ? [{ path: [field.name], reason: `is required: ${allowed(field)}` }] : []
  })

/** The problems of each member, as far as the fields that were sent leave it possible that this member was meant. */
const meant = (
  discriminators: ReadonlyArray<Discriminator>,
  ofMembers: ReadonlyArray<ReadonlyArray<Problem>>,
  at: ReadonlyArray<PropertyKey>
): ReadonlyArray<ReadonlyArray<Problem>> => {
  const isNamed = ({ path }: Problem) =>
    path.length === at.length + 1 && discriminators.some(({ name }) => name === path.at(-1))
  const possible = ofMembers.filter((problems) => !problems.some(isNamed))
  return possible.length === 0 ? ofMembers : possible
}

/**
 * Describes a value that is no member of a union. `ofMembers` are the problems that it has as each of those that it may
 * be; undefined when only the union as a whole says something.
 */
export const unionProblems = (
  { ast, input }: SchemaIssue.AnyOf,
  at: ReadonlyArray<PropertyKey>,
  ofMembers: ReadonlyArray<ReadonlyArray<Problem>>
): ReadonlyArray<Problem> | undefined => {
  const discriminators = isFields(input) ? discriminatorsOf(ast) : []
  const named = isFields(input) ? unnamed(discriminators, input) : []
  if (named.length > 0) return named.map(({ path, reason }) => ({ path: [...at, ...path], reason }))
  if (ofMembers.length === 0) return undefined
  const candidates = meant(discriminators, ofMembers, at)
  const fewest = Math.min(...candidates.map((problems) => problems.length))
  return candidates.filter((problems) => problems.length === fewest).flat()
}
