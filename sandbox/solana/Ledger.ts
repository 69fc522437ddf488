/**
 * A Solana chain of one node, in this process: litesvm's virtual machine with what a node adds to it. Blocks with
 * heights, blockhashes that expire, a status cache, and the rule which failures land and cost a fee. Nothing here
 * waits: every call runs to its end.
 */
import { address, getTransactionDecoder, lamports, type Transaction } from "@solana/kit"
import { PublicKey, SystemProgram, type TransactionInstruction } from "@solana/web3.js"
import { createHash } from "node:crypto"
import { Clock, FailedTransactionMetadata, LiteSVM } from "litesvm"
import * as Base58 from "#domain/values/Base58.ts"
import { swigProgram } from "#layers/solana/swig/addresses.ts"
import { Blockhashes } from "#sandbox/solana/Blockhashes.ts"
import { compileWide, type WideTransaction } from "#sandbox/solana/compileWide.ts"
import type { Emulation } from "#sandbox/solana/Emulation.ts"
import { emptyAccount, type LedgerAccount } from "#sandbox/solana/LedgerAccount.ts"
import { landsWith, type TransactionError, transactionError } from "#sandbox/solana/errorNames.ts"
import { expand, type RequiredLamports } from "#sandbox/solana/expand.ts"
import { atOrigins, failed, nothing, type Outcome, outcomeOf, rentSpentAt } from "#sandbox/solana/Outcome.ts"
import { heldByAccounts } from "#sandbox/solana/heldByAccounts.ts"
import { TokenIndex } from "#sandbox/solana/TokenIndex.ts"
import { type Landed, Statuses } from "#sandbox/solana/Statuses.ts"
import { doomed } from "#sandbox/solana/doomed.ts"
import { instructionsOf, isSigned, keysOf, usesNonce, type Wire } from "#sandbox/solana/Wire.ts"

interface Settings {
  /** The chain's time in seconds. */
  readonly now: () => bigint
  /** The Swig program's bytes; without them, and for programs of which nobody has the code, the emulations run. */
  readonly swigProgram?: Uint8Array
  readonly emulations: ReadonlyMap<string, Emulation>
}

const signatureFee = 5_000n
/** Far more than rents and fees of one of the world's own transactions. */
const operatorLamports = 10_000_000_000n
const historyLimit = 100_000n

export class Ledger {
  readonly #svm: LiteSVM
  readonly #settings: Settings
  readonly #hashes: Blockhashes
  readonly statuses = new Statuses()
  #slot: bigint
  #changes = 0n
  readonly #tokens: TokenIndex

  /** Goes on from `saved`, the bytes of `save`, when they are given. */
  constructor(settings: Settings, saved?: Uint8Array) {
    this.#settings = settings
    this.#svm = (saved === undefined ? new LiteSVM().withNativeMints() : LiteSVM.fromBytes(saved))
      .withTransactionHistory(historyLimit)
      .withBlockhashCheck(false)
    if (settings.swigProgram !== undefined) this.#svm.addProgram(address(swigProgram.toBase58()), settings.swigProgram)
    this.#slot = this.#svm.getClock().slot
    this.#tokens = new TokenIndex(this.#svm)
    this.#hashes = new Blockhashes(this.#svm)
    this.advance(1n)
  }

  /** Counts what changed accounts; empty blocks do not. */
  get changes(): bigint {
    return this.#changes
  }

  get slot(): bigint {
    return this.#slot
  }

  /** The chain's time in seconds. */
  get now(): bigint {
    return this.#settings.now()
  }

  /** Every slot of this chain has a block, so heights and slots differ by nothing. */
  get blockHeight(): bigint {
    return this.#slot
  }

  get blockhashes(): Pick<Blockhashes, "latest" | "isValid"> {
    return this.#hashes
  }

  /** Makes empty blocks. Clocks of programs show the chain's time from then on. */
  advance(slots: bigint): void {
    for (let made = 0n; made < slots; made++) {
      this.#slot += 1n
      this.#hashes.next(this.#slot)
    }
    this.#hashes.publish()
    const { epoch, epochStartTimestamp, leaderScheduleEpoch } = this.#svm.getClock()
    this.#svm.setClock(new Clock(this.#slot, epochStartTimestamp, epoch, leaderScheduleEpoch, this.now))
  }

  account(key: PublicKey | string): LedgerAccount | undefined {
    const found = this.#svm.getAccount(address(key.toString()))
    if (!found.exists || (found.lamports === 0n && found.data.length === 0)) return undefined
    const { data, executable, programAddress } = found
    return { key, lamports: found.lamports, owner: programAddress, data: Uint8Array.from(data), executable }
  }

  tokenAccountsOf(owner: PublicKey): ReadonlyArray<LedgerAccount> {
    return this.#tokens.of(owner.toBase58(), (key) => this.account(key))
  }

  setAccount({ data, executable, key, lamports: amount, owner }: LedgerAccount): void {
    this.#changes += 1n
    this.#tokens.note([key.toString()])
    this.#svm.setAccount({
      address: address(key.toString()),
      data,
      executable,
      lamports: lamports(amount),
      programAddress: address(owner),
      space: BigInt(data.length)
    })
  }

  /** Lamports that an account of so many bytes must keep. */
  rentOf(bytes: number): bigint {
    return this.#svm.minimumBalanceForRentExemption(BigInt(bytes))
  }

  /** Whether the transaction's blockhash, or durable nonce, lets it land now. */
  isCurrent(wire: Wire): boolean {
    return this.#hashes.isValid(wire.transaction.message.recentBlockhash) || usesNonce(wire)
  }

  /** What would become of the transaction; nothing changes. */
  simulate(wire: Wire, { checkSignatures }: { readonly checkSignatures: boolean }): Outcome {
    if (checkSignatures && !isSigned(wire)) return failed("SignatureFailure")
    return this.#run(wire, false)
  }

  /** Executes the transaction in a block of its own. What never lands leaves no trace. */
  land(wire: Wire): Outcome {
    if (!isSigned(wire)) return failed("SignatureFailure")
    if (this.statuses.has(wire.signature)) return failed("AlreadyProcessed")
    if (!this.isCurrent(wire)) return failed("BlockhashNotFound")
    const keys = keysOf(wire, (key) => this.account(key)?.data)
    const before = heldByAccounts(keys, (key) => this.account(key))
    const outcome = this.#run(wire, true)
    if (outcome.error === null || landsWith(outcome.error)) {
      this.#changes += 1n
      this.#tokens.note(keys)
      const landed: Landed = {
        ...outcome,
        slot: this.#slot,
        time: this.#settings.now(),
        bytes: wire.bytes,
        before,
        after: heldByAccounts(keys, (key) => this.account(key))
      }
      this.statuses.add(wire.signature, landed)
      this.advance(1n)
    }
    return outcome
  }

  /** Gives lamports from nowhere. */
  airdrop(key: PublicKey, amount: bigint): void {
    const { data, executable, lamports, owner } = this.account(key) ?? emptyAccount(key)
    this.setAccount({ key, data, executable, owner, lamports: lamports + amount })
  }

  /**
   * Runs instructions in a block of their own as if everybody had signed, and answers the signature; the payer is given
   * what it needs. It is for what the world does itself, and throws when the chain refuses.
   */
  operate(payer: PublicKey, instructions: ReadonlyArray<TransactionInstruction>): string {
    this.airdrop(payer, operatorLamports)
    const blockhash = this.#svm.latestBlockhash()
    const signature = createHash("sha512").update(`${blockhash} ${this.#slot}`).digest()
    const { error, logs } = this.#execute(compileWide({ payer, instructions, blockhash, signature }).transaction, true)
    this.#tokens.noteAll(instructions)
    if (error !== null) throw new Error(`The chain refused (${JSON.stringify(error)}): ${logs.slice(-4).join("; ")}`)
    this.advance(1n)
    return Base58.encode(signature)
  }

  /** Everything but the status cache, for `new Ledger`. */
  save(): Uint8Array {
    return Uint8Array.from(this.#svm.toBytes())
  }

  #run(wire: Wire, keep: boolean): Outcome {
    const instructions = instructionsOf(wire, (key) => this.account(key)?.data)
    if (instructions.some(({ programId }) => this.#settings.emulations.has(programId.toBase58())))
      return this.#runExpanded(wire, instructions, keep)
    return this.#execute(getTransactionDecoder().decode(wire.bytes) as Transaction, keep)
  }

  /** Signatures are checked before, by the node: what runs here may contain none, as simulations and expansions do. */
  #execute(transaction: Transaction, keep: boolean): Outcome {
    this.#svm.withSigverify(false)
    try {
      const result = keep ? this.#svm.sendTransaction(transaction) : this.#svm.simulateTransaction(transaction)
      if (result instanceof FailedTransactionMetadata) return outcomeOf(result.meta(), transactionError(result))
      return outcomeOf("meta" in result ? result.meta() : result, null)
    } finally {
      this.#svm.withSigverify(true)
    }
  }

  #runExpanded(wire: Wire, instructions: ReadonlyArray<TransactionInstruction>, keep: boolean): Outcome {
    const payer = wire.transaction.message.staticAccountKeys[0]!
    const expanded = expand(instructions, this.#settings.emulations, {
      slot: this.#slot,
      payer,
      dataOf: (key) => this.account(key)?.data,
      lamportsOf: (key) => this.account(key)?.lamports ?? 0n,
      ownerOf: (key) => new PublicKey(this.account(key)?.owner ?? SystemProgram.programId),
      rentOf: (bytes) => this.rentOf(bytes)
    })
    const signers = wire.transaction.message.header.numRequiredSignatures
    const compile = (list: ReadonlyArray<TransactionInstruction>) =>
      compileWide({
        payer,
        instructions: list,
        blockhash: this.#svm.latestBlockhash(),
        signature: wire.transaction.signatures[0]!
      })
    const attempt = (list: ReadonlyArray<TransactionInstruction>, kept: boolean): Outcome => {
      const wide = compile(list)
      const surplus = signatureFee * BigInt(wide.signers - signers)
      return this.#withFee(payer, { surplus, keep: kept }, () =>
        atOrigins(this.#execute(wide.transaction, kept), expanded.origins)
      )
    }
    const refuse = (index: number, code: number, logs: ReadonlyArray<string>): Outcome => {
      const spent = attempt(doomed(instructions, wire), keep)
      if (spent.error === null || !landsWith(spent.error)) return spent
      return { error: { InstructionError: [index, { Custom: code }] }, logs, units: spent.units }
    }

    const trial = expanded.instructions.length === 0 ? nothing : attempt(expanded.instructions, false)
    const short = this.#shortOf(compile(expanded.instructions), expanded.required, trial.error)
    if (short !== undefined) {
      return refuse(short.origin, short.code, ["Program failed: rent of a program's account was spent"])
    }
    if (trial.error !== null) return keep ? attempt(expanded.instructions, true) : trial
    if (expanded.refused !== undefined) {
      const { error, index } = expanded.refused
      return refuse(index, error.code, [`Program failed: ${error.message}, custom program error: ${error.code}`])
    }
    if (!keep) return trial
    const outcome = attempt(expanded.instructions, true)
    this.#tokens.noteAll(expanded.instructions)
    if (outcome.error === null) {
      for (const [key, data] of expanded.staged) {
        this.setAccount({ ...(this.account(key) ?? emptyAccount(key)), key, owner: swigProgram.toBase58(), data })
      }
      for (const { from, lamports, to } of expanded.paid) {
        this.airdrop(from, -lamports)
        this.airdrop(to, lamports)
      }
    }
    return outcome
  }

  /** An expansion has more signers than its transaction; what they add to the fee is the ledger's to give. */
  #withFee(
    payer: PublicKey,
    { keep, surplus }: { readonly surplus: bigint; readonly keep: boolean },
    run: () => Outcome
  ): Outcome {
    const before = this.account(payer)
    if (before === undefined || surplus === 0n) return run()
    this.setAccount({ ...before, lamports: before.lamports + surplus })
    const outcome = run()
    const landed = keep && (outcome.error === null || landsWith(outcome.error))
    if (!landed) this.setAccount(before)
    return outcome
  }

  /**
   * The account that has less than its program requires at the end, which programs see before the chain checks
   * rents.
   */
  #shortOf(
    { accounts, transaction }: WideTransaction,
    required: ReadonlyArray<RequiredLamports>,
    error: TransactionError | null
  ): RequiredLamports | undefined {
    const spent = rentSpentAt(error)
    if (spent !== undefined) return required.find(({ account }) => account.toBase58() === accounts[spent])
    if (error !== null || required.length === 0) return undefined
    this.#svm.withSigverify(false)
    try {
      const result = this.#svm.simulateTransaction(transaction)
      if (result instanceof FailedTransactionMetadata) return undefined
      const after = new Map(result.postAccounts().map((account) => [account.address as string, account.lamports]))
      const left = (account: PublicKey): bigint =>
        after.get(account.toBase58()) ?? this.account(account)?.lamports ?? 0n
      return required.find(({ account, atLeast }) => left(account) < atLeast)
    } finally {
      this.#svm.withSigverify(true)
    }
  }
}
