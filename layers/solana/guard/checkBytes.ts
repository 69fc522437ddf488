/**
 * Whether the bytes of a message do what was planned and nothing else: the last check before the agent signs.
 *
 * On chain the agent's role has full control of its sub-account, so this comparison, and not the program, is what
 * limits the agent.
 */
import { type AccountMeta, MessageV0, PublicKey, type TransactionInstruction } from "@solana/web3.js"
import { Result } from "effect"
import { BytesRefused } from "#layers/solana/guard/BytesRefused.ts"
import { type Expected, expectedInstruction } from "#layers/solana/guard/expectedInstruction.ts"
import type { Step, TransactionPlan } from "#layers/solana/swig/Plan.ts"
import { MalformedBytes } from "#layers/solana/swig/ByteReader.ts"
import { subAccount } from "#layers/solana/swig/addresses.ts"
import { decodeSwigInstruction, type PackedInstruction } from "#layers/solana/swig/SwigInstruction.ts"

/** The largest message that fits into a packet with one signature. */
const messageLimit = 1_232 - 1 - 64

class Difference extends Error {
  override readonly name = "Difference"
}

const expect = (holds: boolean, what: string): void => {
  if (!holds) throw new Difference(what)
}

const isSame = (left: Uint8Array, right: Uint8Array) => Buffer.from(left).equals(right)

/** Compares every byte of the message with the plan. */
export const checkBytes = (bytes: Uint8Array, plan: TransactionPlan): Result.Result<void, BytesRefused> => {
  try {
    checkMessage(bytes, plan)
    return Result.succeed(undefined)
  } catch (error) {
    const reason =
      error instanceof Difference || error instanceof MalformedBytes ? error.message : `unreadable: ${error}`
    return Result.fail(
      new BytesRefused({ message: `The transaction is not the planned one and is not signed: ${reason}` })
    )
  }
}

interface Found {
  readonly programId: PublicKey
  readonly accounts: ReadonlyArray<AccountMeta>
  readonly data: Uint8Array
}

const checkMessage = (bytes: Uint8Array, plan: TransactionPlan): void => {
  expect(bytes.length <= messageLimit, `the message has ${bytes.length} bytes, ${messageLimit} fit`)
  const message = MessageV0.deserialize(bytes)
  // What a lenient reader skips, such as bytes after the end, shows when it is written again.
  expect(isSame(message.serialize(), bytes), "the message has bytes that nothing reads")
  expect(hasSoundHeader(message), "the message announces more accounts than it has")
  expect(message.recentBlockhash === plan.blockhash, `the blockhash is ${message.recentBlockhash}`)
  expect(message.staticAccountKeys[0]?.equals(plan.agent) === true, "the agent is not the payer")
  const found = readInstructions(message, plan)
  expect(found.length === plan.steps.length, `${found.length} instructions instead of ${plan.steps.length}`)
  const flags = new Map<string, { isSigner: boolean; isWritable: boolean }>()
  note(flags, [{ pubkey: plan.agent, isSigner: true, isWritable: true }])
  for (const [index, step] of plan.steps.entries()) {
    const expected = expectedInstruction(plan.agent, step)
    checkInstruction(`instruction ${index} (${step._tag})`, { found: found[index]!, expected, step, agent: plan.agent })
    note(flags, [...expected.accounts, ...(step._tag === "ActForSubAccount" ? innerFlags(step) : [])])
    note(flags, [{ pubkey: expected.programId, isSigner: false, isWritable: false }])
  }
  checkFlags(message, plan, flags)
}

/** A header that declares more than there is could be read in one way here and in another on chain. */
const hasSoundHeader = ({ header, staticAccountKeys }: MessageV0): boolean =>
  header.numReadonlySignedAccounts < header.numRequiredSignatures &&
  header.numRequiredSignatures + header.numReadonlyUnsignedAccounts <= staticAccountKeys.length

const readInstructions = (message: MessageV0, { lookupTables }: TransactionPlan): ReadonlyArray<Found> => {
  for (const { accountKey } of message.addressTableLookups) {
    expect(
      lookupTables.some(({ key }) => key.equals(accountKey)),
      `the lookup table ${accountKey.toBase58()} is not planned`
    )
  }
  const keys = message.getAccountKeys({ addressLookupTableAccounts: [...lookupTables] })
  return message.compiledInstructions.map(({ accountKeyIndexes, data, programIdIndex }) => ({
    programId: keys.get(programIdIndex)!,
    accounts: accountKeyIndexes.map((index) => ({
      pubkey: keys.get(index)!,
      isSigner: message.isAccountSigner(index),
      isWritable: message.isAccountWritable(index)
    })),
    data
  }))
}

const checkInstruction = (
  what: string,
  {
    agent,
    expected,
    found,
    step
  }: { readonly found: Found; readonly expected: Expected; readonly step: Step; readonly agent: PublicKey }
): void => {
  expect(found.programId.equals(expected.programId), `${what} calls ${found.programId.toBase58()}`)
  for (const [index, { pubkey }] of expected.accounts.entries()) {
    const account = found.accounts[index]?.pubkey
    expect(account?.equals(pubkey) === true, `${what} has ${account?.toBase58()} as account ${index}`)
  }
  if (step._tag === "Assert") {
    const isOnlyRead = found.accounts.every(({ isWritable, pubkey }) => !isWritable && !pubkey.equals(agent))
    expect(isOnlyRead, `${what} may do more than read its accounts`)
  }
  const { content } = expected
  if (content._tag === "Bytes") {
    expect(isSame(found.data, content.data), `${what} has other data`)
  } else {
    const decoded = decodeSwigInstruction(found.data)
    for (const [field, value] of Object.entries(content)) {
      const actual = (decoded as unknown as Readonly<Record<string, unknown>>)[field]
      expect(plain(actual) === plain(value), `${what} has another ${field}`)
    }
    if (decoded._tag === "SignForSubAccount" && step._tag === "ActForSubAccount") {
      checkInner(what, { found, expected, packed: decoded.inner, step, agent })
      return
    }
  }
  expect(found.accounts.length === expected.accounts.length, `${what} has ${found.accounts.length} accounts`)
}

const checkInner = (
  what: string,
  {
    agent,
    expected,
    found,
    packed,
    step
  }: {
    readonly found: Found
    readonly expected: Expected
    readonly packed: ReadonlyArray<PackedInstruction>
    readonly step: Extract<Step, { readonly _tag: "ActForSubAccount" }>
    readonly agent: PublicKey
  }
): void => {
  expect(packed.length === step.inner.length, `${what} packs ${packed.length} instructions`)
  const account = subAccount(step.id, step.roleId).address
  const used = new Set<number>()
  for (const [index, planned] of step.inner.entries()) {
    const { accounts, data, program } = packed[index]!
    const inner = `${what}, packed instruction ${index}`
    for (const place of [program, ...accounts]) used.add(place)
    expect(found.accounts[program]?.pubkey.equals(planned.programId) === true, `${inner} calls another program`)
    expect(accounts.length === planned.keys.length, `${inner} has ${accounts.length} accounts`)
    for (const [at, { isSigner, pubkey }] of planned.keys.entries()) {
      expect(found.accounts[accounts[at]!]?.pubkey.equals(pubkey) === true, `${inner} has another account ${at}`)
      expect(!isSigner || pubkey.equals(account), `${inner} is signed by ${pubkey.toBase58()}`)
      expect(!pubkey.equals(agent), `${inner} has the agent as account ${at}`)
    }
    expect(isSame(data, planned.data), `${inner} has other data`)
  }
  for (let index = expected.accounts.length; index < found.accounts.length; index++) {
    expect(used.has(index), `${what} has account ${index}, which nothing uses`)
  }
}

/**
 * The packed instructions' accounts as the message must show them: the sub-account signs on chain, not in the
 * message.
 */
const innerFlags = ({ inner }: { readonly inner: ReadonlyArray<TransactionInstruction> }): ReadonlyArray<AccountMeta> =>
  inner.flatMap(({ keys, programId }) => [
    ...keys.map((key) => ({ ...key, isSigner: false })),
    { pubkey: programId, isSigner: false, isWritable: false }
  ])

type Flags = Map<string, { isSigner: boolean; isWritable: boolean }>

const note = (flags: Flags, accounts: ReadonlyArray<AccountMeta>): void => {
  for (const { isSigner, isWritable, pubkey } of accounts) {
    const known = flags.get(pubkey.toBase58())
    flags.set(pubkey.toBase58(), {
      isSigner: isSigner || known?.isSigner === true,
      isWritable: isWritable || known?.isWritable === true
    })
  }
}

/** No other account signs, nothing else may change, and no account is there that no step has. */
const checkFlags = (message: MessageV0, plan: TransactionPlan, flags: Flags): void => {
  const keys = message.getAccountKeys({ addressLookupTableAccounts: [...plan.lookupTables] })
  expect(keys.length === flags.size, `the message has ${keys.length} accounts instead of ${flags.size}`)
  for (let index = 0; index < keys.length; index++) {
    const key = keys.get(index)!.toBase58()
    const flag = flags.get(key)
    expect(flag !== undefined, `the account ${key} is not planned`)
    expect(message.isAccountSigner(index) === flag?.isSigner, `the account ${key} signs otherwise than planned`)
    expect(
      message.isAccountWritable(index) === flag?.isWritable,
      `the account ${key} is writable otherwise than planned`
    )
  }
}

/** Values as text, with bytes and keys by their content. */
const plain = (value: unknown): string => {
  if (value instanceof Uint8Array) return `bytes:${Buffer.from(value).toString("hex")}`
  if (value instanceof PublicKey) return `key:${value.toBase58()}`
  if (Array.isArray(value)) return `[${value.map(plain).join()}]`
  if (typeof value !== "object" || value === null) return `${typeof value}:${String(value)}`
  const fields = Object.entries(value).toSorted(([left], [right]) => (left < right ? -1 : 1))
  return `{${fields.map(([name, field]) => `${name}=${plain(field)}`).join()}}`
}
