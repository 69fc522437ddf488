/**
 * The owner's ways out without the service that escapeHatch.test.ts does not have: a key of the owner in the agent's
 * role, by which every token leaves that moves at all; and an owner with an EVM wallet.
 */
import { afterAll, assert, beforeAll, it } from "@effect/vitest"
import {
  createAssociatedTokenAccountIdempotentInstruction,
  createTransferCheckedInstruction,
  getAssociatedTokenAddressSync
} from "@solana/spl-token"
import { Keypair, type PublicKey } from "@solana/web3.js"
import {
  createSecp256k1AuthorityInfo,
  getMockAuthorityFromCreateAuthorityInfo,
  Secp256k1Instruction,
  type Secp256k1Authority,
  SolInstruction
} from "@swig-wallet/lib"
import { Effect } from "effect"
import { hexToBytes } from "viem"
import { generatePrivateKey, privateKeyToAccount } from "viem/accounts"
import { rootHoldings } from "#layers/solana/swig/addresses.ts"
import { buildStep } from "#layers/solana/swig/buildTransaction.ts"
import { personalSignPrefix } from "#layers/solana/swig/signedText.ts"
import { type SplToken, splCatalog, usdc } from "#sandbox/assets/splCatalog.ts"
import { installMints, issue, pause, resume, tokenAccount } from "#sandbox/solana/market/issuer.ts"
import { amountIn } from "#sandbox/solana/market/splPools.ts"
import { eachSwig } from "#test/layers/solana/eachSwig.ts"
import { enrollEvm, enrollSolana, evmWalletOf, newAgent, onChain } from "#test/layers/solana/owners.ts"
import { replaceAuthority } from "#layers/solana/withdrawal/leave/replaceAuthority.ts"
import { instructionOf } from "#test/layers/solana/walletPackage.ts"
import { fundedKey, land, sol, type TestChain } from "#test/sandbox/solana/support.ts"

const tesla = splCatalog.find(({ symbol }) => symbol === "TSLAx")!

eachSwig("the owner in the agent's place", (start) => {
  let chain: TestChain
  beforeAll(async () => {
    chain = await start()
    installMints(chain.ledger)
  })
  afterAll(() => chain.close())

  const held = (owner: PublicKey, token: SplToken) => amountIn(chain.ledger.account(tokenAccount(token, owner))?.data)
  const moveOf = ({ decimals, mint, program }: SplToken, from: PublicKey, to: PublicKey) =>
    createTransferCheckedInstruction(
      getAssociatedTokenAddressSync(mint, from, true, program),
      mint,
      getAssociatedTokenAddressSync(mint, to, true, program),
      from,
      12n,
      decimals,
      [],
      program
    )

  it.live("takes a tokenized share out, which the program's own withdrawal does not move, unless it is paused", () =>
    Effect.gen(function* () {
      const [agent, owner] = [newAgent(chain), Keypair.generate()]
      chain.ledger.airdrop(owner.publicKey, sol)
      const { deposit, place, wallet } = yield* onChain(chain)(enrollSolana(chain, agent, owner))
      for (const token of [tesla, usdc]) issue(chain.ledger, deposit, { token, amountRaw: 12n })
      // The owner's own key, of which the wallet's root is made too.
      const replace = replaceAuthority(wallet, { role: place.roleId, holder: owner.publicKey, key: owner.publicKey })
      const takeOut = Effect.promise(async () => {
        const open = [tesla, usdc].map(({ mint, program }) =>
          createAssociatedTokenAccountIdempotentInstruction(
            owner.publicKey,
            getAssociatedTokenAddressSync(mint, owner.publicKey, true, program),
            owner.publicKey,
            mint,
            program
          )
        )
        const inner = [tesla, usdc].map((token) => moveOf(token, deposit, owner.publicKey))
        const step = { _tag: "ActForSubAccount", id: place.walletId, roleId: place.roleId, inner } as const
        return land(chain, [...open, await buildStep(owner.publicKey, step)], [owner])
      })
      assert.isNull((yield* Effect.promise(() => land(chain, [replace], [owner]))).error)
      pause(chain.ledger, tesla)
      assert.isNotNull((yield* takeOut).error)
      resume(chain.ledger, tesla)
      const { bytes, error } = yield* takeOut
      assert.isNull(error)
      assert.isAtMost(bytes, 1_232)
      assert.deepStrictEqual([held(owner.publicKey, tesla), held(owner.publicKey, usdc)], [12n, 12n])
    })
  )

  it.live("an owner with an EVM wallet signs two texts, and any Solana key pays", () =>
    Effect.gen(function* () {
      const account = privateKeyToAccount(generatePrivateKey())
      const [agent, payer] = [newAgent(chain), fundedKey(chain)]
      const { deposit, wallet } = yield* onChain(chain)(enrollEvm(chain, agent, evmWalletOf(account)))
      issue(chain.ledger, deposit, { token: usdc, amountRaw: 12n })
      const holdings = rootHoldings(wallet).address
      const { mint, program } = usdc
      const [from, through, to] = [deposit, holdings, payer.publicKey].map((holder) =>
        getAssociatedTokenAddressSync(mint, holder, true, program)
      ) as [PublicKey, PublicKey, PublicKey]
      const publicKey = hexToBytes(account.publicKey).slice(1)
      const signing = (odometer: number) => ({
        currentSlot: chain.ledger.slot,
        odometer,
        payer: payer.publicKey,
        signingFn: async (text: Uint8Array) => ({
          signature: hexToBytes(await account.signMessage({ message: { raw: text } })),
          prefix: personalSignPrefix
        })
      })
      const outcome = yield* Effect.promise(async () => {
        const withdraw = await Secp256k1Instruction.subAccountWithdrawV1TokenInstruction(
          {
            payer: payer.publicKey,
            swig: wallet,
            swigSystemAddress: holdings,
            subAccount: deposit,
            subAccountToken: from,
            swigToken: through,
            tokenProgram: program
          },
          { roleId: 0, authorityData: publicKey, amount: 12n },
          signing(2)
        )
        const root = getMockAuthorityFromCreateAuthorityInfo(
          createSecp256k1AuthorityInfo(publicKey)
        ) as Secp256k1Authority
        const send = await root.signV2({
          swigAddress: wallet,
          swigSystemAddress: holdings,
          payer: payer.publicKey,
          roleId: 0,
          innerInstructions: [SolInstruction.from(moveOf(usdc, holdings, payer.publicKey))],
          options: signing(3)
        })
        const open = [
          [through, holdings],
          [to, payer.publicKey]
        ].map(([key, holder]) =>
          createAssociatedTokenAccountIdempotentInstruction(payer.publicKey, key!, holder!, mint, program)
        )
        return land(chain, [...open, instructionOf(withdraw), instructionOf(send)], [payer])
      })
      assert.isNull(outcome.error)
      assert.isAtMost(outcome.bytes, 1_232)
      assert.strictEqual(held(payer.publicKey, usdc), 12n)
    })
  )
})
