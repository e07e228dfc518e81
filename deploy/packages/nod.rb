class Nod < Formula
  desc "Human approval for AI agents in Slack, Discord and Telegram"
  homepage "https://github.com/nodbridge/nod"
  version "@VERSION@"
  license "Apache-2.0"

  on_macos do
    on_arm do
      url "https://github.com/nodbridge/nod/releases/download/v@VERSION@/nod_@VERSION@_darwin_arm64.tar.gz"
      sha256 "@darwin_arm64@"
    end
    on_intel do
      url "https://github.com/nodbridge/nod/releases/download/v@VERSION@/nod_@VERSION@_darwin_amd64.tar.gz"
      sha256 "@darwin_amd64@"
    end
  end
  on_linux do
    on_arm do
      url "https://github.com/nodbridge/nod/releases/download/v@VERSION@/nod_@VERSION@_linux_arm64.tar.gz"
      sha256 "@linux_arm64@"
    end
    on_intel do
      url "https://github.com/nodbridge/nod/releases/download/v@VERSION@/nod_@VERSION@_linux_amd64.tar.gz"
      sha256 "@linux_amd64@"
    end
  end

  def install
    bin.install "nod", "nod-hook"
    man1.install Dir["man/*.1"]
    bash_completion.install "completions/nod.bash" => "nod"
    zsh_completion.install "completions/nod.zsh" => "_nod"
    fish_completion.install "completions/nod.fish"
  end

  service do
    run [opt_bin/"nod", "serve", "--config", etc/"nod/nod.yaml"]
    keep_alive true
    log_path var/"log/nod.log"
    error_log_path var/"log/nod.log"
  end

  test do
    assert_match "nod #{version}", shell_output("#{bin}/nod version")
    assert_match "nod-hook #{version}", shell_output("#{bin}/nod-hook version")
    assert_match "connection refused", shell_output("#{bin}/nod health --url http://127.0.0.1:1 2>&1", 1)
  end
end
