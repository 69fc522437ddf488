/**
 * Whether the deployment moves real value. The prefix of a key shows it, and a key of the one works in the other
 * neither by accident nor when a database was copied. See docs/decisions/0203-environments-of-keys.md.
 */
import { Context } from "effect"

export const environments = ["live", "test"] as const
export type Environment = (typeof environments)[number]

export class KeyEnvironment extends Context.Reference<Environment>("ballast/domain/identity/KeyEnvironment", {
  defaultValue: () => "live"
}) {}

export const prefixOf = (environment: Environment) => `bk_${environment}_` as const

const deployments = { live: "production", test: "a sandbox" } as const

/** The error for a key of the other environment; undefined for a text that is of neither, or of this one. */
export const strangerTo = (environment: Environment, secret: string): string | undefined => {
  const other = environments.find((one) => one !== environment)!
  return secret.startsWith(prefixOf(other))
    ? `This is a key of ${deployments[other]} (${prefixOf(other)}...), and this deployment is ${deployments[environment]}: send one that begins with ${prefixOf(environment)}`
    : undefined
}
