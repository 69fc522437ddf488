// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

/// @title Stand-in for a Chainlink feed: says what the world's prices are, at every moment anew
/// @notice Placed by its code at the real feeds' addresses; its operator sets it once with `initialize`. As a
/// sequencer's uptime feed its answer is zero, and it has been up since the chain's beginning.
contract SandboxFeed {
    address public operator;
    int256 private _answer;
    /// @notice When not zero, the feed has been silent since.
    uint256 public silentSince;

    error OnlyOperator(address caller);

    modifier onlyOperator() {
        if (operator != address(0) && msg.sender != operator) revert OnlyOperator(msg.sender);
        _;
    }

    function initialize(int256 answer) external onlyOperator {
        operator = msg.sender;
        _answer = answer;
    }

    function set(int256 answer) external onlyOperator {
        _answer = answer;
    }

    /// @notice Makes the feed answer what it said at a time, until it is told zero.
    function silence(uint256 since) external onlyOperator {
        silentSince = since;
    }

    function decimals() external pure returns (uint8) {
        return 8;
    }

    function description() external pure returns (string memory) {
        return "sandbox";
    }

    function latestRoundData()
        external
        view
        returns (uint80 roundId, int256 answer, uint256 startedAt, uint256 updatedAt, uint80 answeredInRound)
    {
        uint256 time = silentSince == 0 ? block.timestamp : silentSince;
        return (1, _answer, 1, time, 1);
    }
}
