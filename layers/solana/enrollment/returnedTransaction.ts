/**
 * What an owner's wallet returned for the issued transaction. Wallets may change the limit and the price of units and
 * add assertions behind the instructions (Lighthouse's, as Phantom documents); all else must be as it was issued. The
 * plan that comes out is compared with the bytes before the agent signs.
 */
import { ComputeBudgetProgram, MessageV0, type PublicKey } from "@solana/web3.js"
import { Result } from "effect"
import { OwnerSignatureRefused } from "#layers/solana/enrollment/errors.ts"
import * as Ed25519 from "#layers/solana/ed25519.ts"
import { checkBytes } from "#layers/solana/guard/checkBytes.ts"
import { signersOf } from "#layers/solana/lifecycle/Attempt.ts"
import { transactionBytesLimit } from "#layers/solana/lifecycle/errors.ts"
import { type FeePolicy, priorityLamports, unitsOfATransaction } from "#layers/solana/lifecycle/priorityFee.ts"
import { assertionProgram } from "#layers/solana/swig/addresses.ts"
import { ByteReader } from "#layers/solana/swig/ByteReader.ts"
import type { Step, TransactionPlan } from "#layers/solana/swig/Plan.ts"

export interface Returned {
  readonly message: Uint8Array
  /** Keys of all who sign, in their order; the agent's signature is not filled in. */
  readonly signers: ReadonlyArray<PublicKey>
  readonly ownerSignature: Uint8Array
  readonly plan: TransactionPlan
}

const longestTransaction = 1_644
const assertionLimit = 8
const setUnitLimit = 2
const setUnitPrice = 3

class NotIssued extends Error {
  override readonly name = "NotIssued"
}
const expect = (holds: boolean, what: string): void => {
  if (!holds) throw new NotIssued(what)
}

interface Instruction {
  readonly programId: PublicKey
  readonly accounts: ReadonlyArray<PublicKey>
  readonly data: Uint8Array
}

const instructionsOf = (message: MessageV0): ReadonlyArray<Instruction> => {
  expect(message.addressTableLookups.length === 0, "it names accounts by a lookup table")
  const keyAt = (index: number): PublicKey => {
    const key = message.staticAccountKeys[index]
    if (key === undefined) throw new NotIssued("it names an account that it does not have")
    return key
  }
  return message.compiledInstructions.map(({ accountKeyIndexes, data, programIdIndex }) => ({
    programId: keyAt(programIdIndex),
    accounts: accountKeyIndexes.map(keyAt),
    data
  }))
}

/** A number of the compute budget, where a wallet may have written its own. */
const budgetOf = (instruction: Instruction | undefined, kind: number): bigint => {
  if (instruction?.programId.equals(ComputeBudgetProgram.programId) !== true) {
    throw new NotIssued("its limit and price of units do not stand first")
  }
  const reader = new ByteReader(instruction.data, "compute budget")
  expect(reader.u8() === kind, "its limit and price of units do not stand first")
  return kind === setUnitLimit ? BigInt(reader.u32()) : reader.u64()
}

const assertionOf = ({ accounts, data, programId }: Instruction): Step => {
  expect(programId.equals(assertionProgram), `it calls ${programId.toBase58()}, which was not issued`)
  return { _tag: "Assert", accounts, data }
}

/** The plan of the returned message: the issued one, with the budget and the assertions of the wallet. */
const planOf = (message: MessageV0, issued: TransactionPlan, fees: FeePolicy): TransactionPlan => {
  const [limit, price, ...rest] = instructionsOf(message)
  const [units, microLamports] = [budgetOf(limit, setUnitLimit), budgetOf(price, setUnitPrice)]
  expect(units <= BigInt(unitsOfATransaction), `it may use ${units} units`)
  const lamports = priorityLamports(units, microLamports)
  expect(lamports <= fees.maxPriorityLamports, `it pays ${lamports} lamports for its inclusion in a block`)
  const steps = issued.steps.slice(2)
  const added = rest.slice(steps.length)
  expect(added.length <= assertionLimit, `it has ${added.length} more instructions`)
  return {
    ...issued,
    steps: [
      { _tag: "LimitUnits", units: Number(units) },
      { _tag: "PriceUnits", microLamports },
      ...steps,
      ...added.map(assertionOf)
    ]
  }
}

const differs = (what: string) =>
  refused(`The transaction is not the issued one; sign it as it was issued, or request a new one: ${what}`)

const refused = (message: string) => new OwnerSignatureRefused({ field: "signedSolanaTransaction", message })

/** The returned transaction, where it is the issued one but for what wallets may add, and the owner has signed it. */
export const readReturned = (
  returned: string,
  { fees, issued, owner }: { readonly issued: TransactionPlan; readonly owner: PublicKey; readonly fees: FeePolicy }
): Result.Result<Returned, OwnerSignatureRefused> => {
  const isBase64 = returned.length <= longestTransaction && /^[A-Za-z0-9+/]+={0,2}$/u.test(returned)
  if (!isBase64) return Result.fail(refused("Expected the signed transaction in base64, of at most 1,232 bytes"))
  const bytes = Uint8Array.from(Buffer.from(returned, "base64"))
  const count = bytes[0]!
  const message = bytes.slice(1 + 64 * count)
  const read = Result.try({
    try: () => {
      expect(bytes.length <= transactionBytesLimit, `it has ${bytes.length} bytes`)
      const decoded = MessageV0.deserialize(message)
      return { signers: signersOf(decoded), plan: planOf(decoded, issued, fees) }
    },
    catch: (error) => differs(error instanceof NotIssued ? error.message : "it cannot be read")
  })
  return Result.flatMap(read, ({ plan, signers }) => {
    const checked = Result.mapError(checkBytes(message, plan), (refusal) => differs(refusal.message))
    if (Result.isFailure(checked)) return Result.fail(checked.failure)
    const place = signers.findIndex((key) => key.equals(owner))
    if (count !== signers.length || place === -1) {
      return Result.fail(refused(`Expected ${signers.length} signatures, found ${count}`))
    }
    const ownerSignature = bytes.slice(1 + 64 * place, 1 + 64 * (place + 1))
    return Ed25519.verify(owner.toBytes(), message, ownerSignature)
      ? Result.succeed({ message, signers, ownerSignature, plan })
      : Result.fail(
          refused("The owner's signature is missing or not valid; sign the issued transaction with the owner's key")
        )
  })
}
