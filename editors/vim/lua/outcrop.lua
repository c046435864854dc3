-- Neovim 0.8 or later: require("outcrop").setup() starts the language server for models.
local M = {}

M.filetypes = { "murphi", "dve", "promela" }

function M.setup(options)
  options = options or {}
  local command = options.cmd or { "outcrop", "lsp" }
  vim.api.nvim_create_autocmd("FileType", {
    pattern = options.filetypes or M.filetypes,
    callback = function(event)
      vim.lsp.start({
        name = "outcrop",
        cmd = command,
        root_dir = vim.fs.dirname(vim.api.nvim_buf_get_name(event.buf)),
      })
    end,
  })
end

return M
