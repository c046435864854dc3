;;; outcrop.el --- Modes for models in Murphi, DVE and Promela  -*- lexical-binding: t -*-

;; Version: 0.1.0
;; Package-Requires: ((emacs "26.1"))
;; URL: https://github.com/outcrop-mc/outcrop
;; SPDX-License-Identifier: Apache-2.0

;;; Commentary:

;; Colours, comments and compilation of models.  M-x compile checks the model of the buffer, and C-x ` goes through
;; what it finds.  M-x eglot starts the language server, which needs pip install 'outcrop[lsp]'.
;;
;;   (add-to-list 'load-path "/path/to/editors/emacs")
;;   (require 'outcrop)
;;
;; Emacs takes files *.m for Objective-C or Octave.  To take all of them for Murphi:
;;
;;   (add-to-list 'auto-mode-alist '("\\.m\\'" . outcrop-murphi-mode))

;;; Code:

(require 'compile)
(require 'outcrop-words)

(defgroup outcrop nil
  "Models of the Outcrop model checker."
  :group 'languages)

(defcustom outcrop-command "outcrop"
  "The command that starts Outcrop."
  :type 'string)

(defun outcrop--syntax-table (line-comment)
  "Return a syntax table for a language with LINE-COMMENT and block comments."
  (let ((table (make-syntax-table)))
    (modify-syntax-entry ?_ "_" table)
    (modify-syntax-entry ?/ ". 124b" table)
    (modify-syntax-entry ?* ". 23" table)
    (modify-syntax-entry ?\n "> b" table)
    (when (equal line-comment "--")
      (modify-syntax-entry ?/ ". 14" table)
      (modify-syntax-entry ?- ". 12b" table))
    table))

(defun outcrop--keywords (keywords types constants functions)
  "Return the colours of the lists KEYWORDS, TYPES, CONSTANTS and FUNCTIONS."
  (let (found)
    (dolist (each `((,keywords . font-lock-keyword-face)
                    (,types . font-lock-type-face)
                    (,constants . font-lock-constant-face)
                    (,functions . font-lock-builtin-face)))
      (when (car each)
        (push (cons (regexp-opt (car each) 'symbols) (cdr each)) found)))
    (nreverse found)))

(defun outcrop--setup (line-comment keywords ignores-case)
  "Prepare a buffer with LINE-COMMENT, KEYWORDS to colour, and IGNORES-CASE."
  (setq-local comment-start (concat line-comment " "))
  (setq-local comment-end "")
  (setq-local indent-tabs-mode nil)
  (setq-local tab-width 2)
  (setq-local indent-line-function #'indent-relative)
  (setq-local font-lock-defaults (list keywords nil ignores-case))
  (when buffer-file-name
    (setq-local compile-command
                (format "%s check --no-color -q %s" outcrop-command
                        (shell-quote-argument (file-name-nondirectory buffer-file-name))))))

;;;###autoload
(define-derived-mode outcrop-murphi-mode prog-mode "Murphi"
  "Mode for Murphi models."
  :syntax-table (outcrop--syntax-table "--")
  (outcrop--setup "--"
                  (outcrop--keywords outcrop-murphi-keywords outcrop-murphi-types
                                     outcrop-murphi-constants outcrop-murphi-functions)
                  t))

;;;###autoload
(define-derived-mode outcrop-dve-mode prog-mode "DVE"
  "Mode for DVE models."
  :syntax-table (outcrop--syntax-table "//")
  (outcrop--setup "//"
                  (outcrop--keywords outcrop-dve-keywords outcrop-dve-types
                                     outcrop-dve-constants outcrop-dve-functions)
                  nil))

;;;###autoload
(define-derived-mode outcrop-promela-mode prog-mode "Promela"
  "Mode for Promela models."
  :syntax-table (outcrop--syntax-table "//")
  (outcrop--setup "//"
                  (outcrop--keywords outcrop-promela-keywords outcrop-promela-types
                                     outcrop-promela-constants outcrop-promela-functions)
                  nil))

;;;###autoload
(add-to-list 'auto-mode-alist '("\\.dve\\'" . outcrop-dve-mode))
;; Files that end in .pm are left to Perl.
;;;###autoload
(add-to-list 'auto-mode-alist '("\\.\\(pml\\|prm\\|pr\\|prom\\|promela\\|spin\\)\\'" . outcrop-promela-mode))

;; What `outcrop check' prints: file:line:column: error: message.
(add-to-list 'compilation-error-regexp-alist-alist
             '(outcrop "^\\([^ \n:]+\\):\\([0-9]+\\):\\([0-9]+\\): \\(?:error\\|\\(warning\\)\\|\\(note\\)\\):"
                       1 2 3 (4 . 5)))
(add-to-list 'compilation-error-regexp-alist 'outcrop)

(defun outcrop-format-buffer ()
  "Arrange the model of this buffer with outcrop format."
  (interactive)
  (let ((output (generate-new-buffer " *outcrop format*"))
        (name (if buffer-file-name (file-name-nondirectory buffer-file-name) "model.m")))
    (unwind-protect
        (if (zerop (call-process-region nil nil outcrop-command nil (list output nil) nil
                                        "format" "--name" name "-"))
            (replace-buffer-contents output)
          (user-error "The model has mistakes, so that its layout stays"))
      (kill-buffer output))))

(with-eval-after-load 'eglot
  (defvar eglot-server-programs)
  (add-to-list 'eglot-server-programs
               `((outcrop-murphi-mode outcrop-dve-mode outcrop-promela-mode) . (,outcrop-command "lsp"))))

(provide 'outcrop)
;;; outcrop.el ends here
