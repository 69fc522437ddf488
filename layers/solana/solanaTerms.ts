/**
 * What holds on Solana: the agent has a role in the owner's wallet, which the chain limits to the portfolio's
 * sub-account and to nothing else, and each step is a transaction of its own. Source: docs/solana.md.
 */
import type { FamilyTerms } from "#domain/chain/Families.ts"

const isOnSolana = "portfolioId: is on Solana"

export const solanaTerms = {
  chains: "Solana",
  notOffered: {
    contractOwner: {
      message: "An owner on Solana is a key; leave accountType out",
      details: ["accountType: ERC1271 is for EVM chains"]
    },
    guardTerms: {
      message: "Terms are enforced by the trade guard, which Solana does not have; leave them out",
      details: ["terms: no guard"]
    },
    renewal: {
      message: "The agent's role on Solana does not end and has no terms; there is nothing to sign anew",
      details: [isOnSolana]
    },
    revocation: {
      message:
        "On Solana the owner takes the agent's role away with the wallet's own key (docs/solana.md); to stop automation, pause the portfolio",
      details: [isOnSolana]
    }
  },
  enrollment: "sub_account",
  withdrawalForm: "text",
  textSigning: "text",
  /** Each sale is a transaction of its own, and what the owner signed could be carried out in part. */
  sellsWithinWithdrawal: false,
  /** Jupiter quotes. */
  quotesAllPools: false,
  /** More do not fit into a transaction of 1,232 bytes. */
  maxWithdrawnAssets: 5,
  /**
   * The chain does not know the expiry, and a transaction may land for as long as its blockhash lives, 150 blocks.
   */
  landingSeconds: 90,
  /** Whether an account is a wallet is read from the chain (layers/solana/withdrawal/). */
  lossAt: () => undefined
} satisfies FamilyTerms
