class Acptap < Formula
  desc "Records, replays and inspects what an editor and an agent say to each other"
  homepage "https://github.com/acptap/acptap"
  version "VERSION"

  on_macos do
    on_arm do
      url "https://github.com/acptap/acptap/releases/download/vVERSION/acptap-vVERSION-darwin-arm64.tar.gz"
      sha256 "SUM-darwin-arm64"
    end
    on_intel do
      url "https://github.com/acptap/acptap/releases/download/vVERSION/acptap-vVERSION-darwin-amd64.tar.gz"
      sha256 "SUM-darwin-amd64"
    end
  end
  on_linux do
    on_arm do
      url "https://github.com/acptap/acptap/releases/download/vVERSION/acptap-vVERSION-linux-arm64.tar.gz"
      sha256 "SUM-linux-arm64"
    end
    on_intel do
      url "https://github.com/acptap/acptap/releases/download/vVERSION/acptap-vVERSION-linux-amd64.tar.gz"
      sha256 "SUM-linux-amd64"
    end
  end

  def install
    bin.install "acptap", "acptap-proxy", "acptap-lake"
    man1.install Dir["man/man1/*"]
    man7.install Dir["man/man7/*"]
    bash_completion.install "completions/acptap.bash" => "acptap"
    zsh_completion.install "completions/acptap.zsh" => "_acptap"
    fish_completion.install "completions/acptap.fish"
  end

  test do
    assert_match "acptap v#{version}", shell_output("#{bin}/acptap version")
  end
end
