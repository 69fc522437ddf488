/**
 * A bundle of transactions for a Safe, in the JSON format of its Transaction Builder (version 1.0), which the Safe's
 * owners load, read and sign. Source of the form and of the checksum: Safe's published bundles.
 */
import { type Address, type Hex, keccak256, stringToHex } from "viem"
import type { ChainId } from "#domain/values/Caip.ts"
import type { DeploymentStep } from "#layers/evm/deployment/planDeployment.ts"

interface BundledTransaction {
  readonly to: Address
  readonly value: "0"
  readonly data: Hex
  readonly contractMethod: null
  readonly contractInputsValues: null
}

export interface SafeBundle {
  readonly version: "1.0"
  readonly chainId: string
  readonly createdAt: number
  readonly meta: {
    readonly name: string
    readonly description: string
    readonly txBuilderVersion: string
    readonly createdFromSafeAddress: Address
    readonly createdFromOwnerAddress: ""
    readonly checksum: Hex
  }
  readonly transactions: ReadonlyArray<BundledTransaction>
}

/** The version of the format's writer that Safe's own interface names. */
const writerVersion = "1.16.3"

/** Gas that one transaction may use (EIP-7825), and a margin for what the Safe itself does. */
const bundleGas = 14_000_000n

const serialize = (value: unknown): string => {
  if (Array.isArray(value)) return `[${value.map(serialize).join(",")}]`
  if (typeof value !== "object" || value === null) return JSON.stringify(value ?? null)
  const fields = value as Readonly<Record<string, unknown>>
  const names = Object.keys(fields).sort()
  return `{${JSON.stringify(names)}${names.map((name) => `${serialize(fields[name])},`).join("")}}`
}

/** What Safe's interface compares when it loads a bundle; a bundle that was changed is shown as such. */
export const bundleChecksum = (bundle: {
  readonly meta: Readonly<Record<string, unknown>>
  readonly [field: string]: unknown
}): Hex => {
  const { checksum: _, ...meta } = bundle.meta
  return keccak256(stringToHex(serialize({ ...bundle, meta: { ...meta, name: null } })))
}

interface Bundled {
  readonly chainId: ChainId
  readonly safe: Address
  /** UNIX milliseconds. */
  readonly createdAt: number
}

const bundleOf = (
  steps: ReadonlyArray<DeploymentStep>,
  { chainId, createdAt, safe }: Bundled,
  part: string
): SafeBundle => {
  const meta = {
    name: `Ballast on chain ${chainId}${part}`,
    description: steps.map(({ words }, index) => `${index + 1}. ${words}`).join("\n"),
    txBuilderVersion: writerVersion,
    createdFromSafeAddress: safe,
    createdFromOwnerAddress: ""
  } as const
  const bundle = {
    version: "1.0",
    chainId: `${chainId}`,
    createdAt,
    meta,
    transactions: steps.map(({ data, to }) => ({
      to,
      value: "0" as const,
      data,
      contractMethod: null,
      contractInputsValues: null
    }))
  } as const
  return { ...bundle, meta: { ...meta, checksum: bundleChecksum(bundle) } }
}

/** Bundles of steps in their order, each of which fits into a transaction; they are made one after the other. */
export const safeBundles = (steps: ReadonlyArray<DeploymentStep>, bundled: Bundled): ReadonlyArray<SafeBundle> => {
  const parts: Array<Array<DeploymentStep>> = []
  let gas = bundleGas
  for (const step of steps) {
    gas += step.gas
    if (gas > bundleGas) {
      parts.push([])
      gas = step.gas
    }
    parts.at(-1)!.push(step)
  }
  return parts.map((part, index) =>
    bundleOf(part, bundled, parts.length === 1 ? "" : `, part ${index + 1} of ${parts.length}`)
  )
}
